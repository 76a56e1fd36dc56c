"""Replace errors of Arrow, which may quote cells, by errors of shoal, which do not."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import pyarrow as pa

from shoal.errors import DataError, is_out_of_memory
from shoal.model.progress import current_step

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def without_arrow_errors(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Replace an error of Arrow, whose message may quote a cell, by a DataError that names only the step."""

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except pa.ArrowException as problem:
            if is_out_of_memory(problem):
                raise MemoryError from None
            kind = type(problem).__name__
        raise DataError(
            f"{current_step() or 'read'}: a column has cells of a type that shoal cannot handle ({kind}). "
            "Convert it to text, numbers or dates first, or leave it out."
        )

    return guarded
