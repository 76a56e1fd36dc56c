"""scikit-learn: the cost of anonymization for a model that is trained on released rows and scored on original ones."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import shoal

X, y = load_breast_cancer(return_X_y=True)

released = shoal.Anonymizer("mdav", k=5, random_state=0).fit_transform(X)
print(f"{len(released)} released rows, in the order of X: confidential")

model = shoal.ReleaseThenFit(DecisionTreeClassifier(random_state=0), method="mdav", random_state=0)
search = GridSearchCV(model, {"k": [2, 5, 10, 20]}, cv=4).fit(X, y)
for k, accuracy in zip(search.cv_results_["param_k"], search.cv_results_["mean_test_score"], strict=True):
    print(f"k={k:2}: accuracy on original held-out rows {accuracy:.3f}")
