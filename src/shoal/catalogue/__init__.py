"""The catalogue: one card per method, privacy model, measure and attack, declared beside its code and nowhere else."""

from shoal.catalogue.attack_card import AttackCard, attack
from shoal.catalogue.measure_card import MeasureCard, measure
from shoal.catalogue.method_card import Growth, MethodCard, method
from shoal.catalogue.model_card import ModelCard, model
from shoal.catalogue.parameters import Choice, Flag, Number, Whole
from shoal.catalogue.sections import attacks, measures, methods, models

__all__ = [
    "AttackCard",
    "Choice",
    "Flag",
    "Growth",
    "MeasureCard",
    "MethodCard",
    "ModelCard",
    "Number",
    "Whole",
    "attack",
    "attacks",
    "measure",
    "measures",
    "method",
    "methods",
    "model",
    "models",
]
