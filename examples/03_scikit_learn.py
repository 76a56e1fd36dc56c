"""Anonymizer with scikit-learn: train on released rows, test on original ones."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import shoal

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

for k in (2, 5, 10, 20):
    anonymizer = shoal.Anonymizer("mdav", k=k)
    released = anonymizer.fit_transform(X_train)
    model = DecisionTreeClassifier(random_state=0).fit(released, y_train)
    loss = anonymizer.release_.finding("information loss %")
    print(f"k={k:2}: loss {loss:4.1f} %, accuracy on original held-out rows {model.score(X_test, y_test):.3f}")
