"""The catalogue: a card per method, privacy model, measure, attack and file format, declared beside its code."""

from shoal.catalogue.attack_card import AttackCard, attack
from shoal.catalogue.format_card import FormatCard, file_format
from shoal.catalogue.growth import Cost, Growth, Task
from shoal.catalogue.measure_card import MeasureCard, measure
from shoal.catalogue.method_card import MethodCard, method
from shoal.catalogue.model_card import ModelCard, model
from shoal.catalogue.parameters import Choice, Flag, Number, Whole
from shoal.catalogue.sections import attacks, formats, measures, methods, models, requested_model

__all__ = [
    "AttackCard",
    "Choice",
    "Cost",
    "Flag",
    "FormatCard",
    "Growth",
    "MeasureCard",
    "MethodCard",
    "ModelCard",
    "Number",
    "Task",
    "Whole",
    "attack",
    "attacks",
    "file_format",
    "formats",
    "measure",
    "measures",
    "method",
    "methods",
    "model",
    "models",
    "requested_model",
]
