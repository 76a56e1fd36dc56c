"""A disassociated data set: clusters of records whose items were torn into chunks."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Disassociated", "TermPolicy"]

TermPolicy = Literal["global", "drop", "cluster", "suppress"]


@dataclass(frozen=True, eq=False)
class Disassociated:
    """What is published of set-valued data: sub-records by chunk, without a link between the chunks.

    Chunks, sub-records and items are three levels of flat arrays: chunk c holds the sub-records `chunk_ptr[c]` to
    `chunk_ptr[c + 1]`, sub-record s the items `sub_ptr[s]` to `sub_ptr[s + 1]` of `items`. Sub-records are distinct
    within a chunk, in lexicographic order, each with the number of records that it stands for.

    Parameters
    ----------
    k, m, delta : int
        What is promised, and the most records of a cluster.
    labels : tuple of str
        The label of each published item, in the order that they have among all labels of the data.
    sizes : int64 array of shape (clusters,)
        The number of records of each cluster.
    opened : bool array of shape (clusters,)
        Whether records of the cluster have items beside those of its chunks, which keep every slot from being empty.
    chunk_cluster, chunk_joint : int32 arrays of shape (chunks,)
        The cluster that a chunk belongs to, or -1 and the joint that shares it.
    chunk_ptr, sub_ptr : int64 arrays
    counts : int64 array of shape (sub-records,)
    items : int32 array
    joint_ptr : int64 array of shape (joints + 1,)
    joint_clusters : int32 array
        The clusters of each joint, ascending.
    term_cluster : int32 array
        For every published item that is in no chunk the cluster that it occurs in, or -1 for «somewhere».
    term_item : int32 array
    partition : str
        How records were put into clusters.
    levels : int
        How often neighbouring clusters were joined to share chunks.
    terms : {"global", "drop", "cluster", "suppress"}
        What became of items that are in no chunk.
    """

    k: int
    m: int
    delta: int
    labels: tuple[str, ...] = field(repr=False)
    sizes: NDArray[np.int64]
    opened: NDArray[np.bool_]
    chunk_cluster: NDArray[np.int32]
    chunk_joint: NDArray[np.int32]
    chunk_ptr: NDArray[np.int64]
    sub_ptr: NDArray[np.int64]
    counts: NDArray[np.int64]
    items: NDArray[np.int32]
    joint_ptr: NDArray[np.int64]
    joint_clusters: NDArray[np.int32]
    term_cluster: NDArray[np.int32]
    term_item: NDArray[np.int32]
    partition: str = "recursive"
    levels: int = 0
    terms: TermPolicy = "global"

    @property
    def n(self) -> int:
        """The number of records."""
        return int(self.sizes.sum())

    @property
    def clusters(self) -> int:
        """The number of clusters."""
        return int(self.sizes.size)

    @property
    def chunks(self) -> int:
        """The number of chunks, shared ones among them."""
        return int(self.chunk_cluster.size)

    @property
    def occurrences(self) -> int:
        """The number of items in all sub-records, each as often as it stands there."""
        return int((np.diff(self.sub_ptr) * self.counts).sum())

    def __repr__(self) -> str:
        """Name the data by their figures, never by their items."""
        size = f"{self.n} records in {self.clusters} clusters and {self.chunks} chunks"
        return f"<Disassociated: {size}, k={self.k}, m={self.m}>"
