"""A disassociated data set: clusters of records whose items were split into chunks."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import counted

TermPolicy = Literal["global", "drop", "cluster", "suppress"]


@dataclass(frozen=True, eq=False)
class Disassociated:
    """What is published of set-valued data: sub-records by chunk, without a link between the chunks.

    Chunks, sub-records and items are three levels of flat arrays: chunk c has the sub-records `chunk_ptr[c]` to
    `chunk_ptr[c + 1]`, sub-record s the items `sub_ptr[s]` to `sub_ptr[s + 1]` of `items`. Sub-records are distinct
    within a chunk, in lexicographic order, each with the number of records that it represents in `counts`. Published
    items that are in no chunk are listed in `term_item`.
    """

    k: int
    m: int
    delta: int  # largest number of records of a cluster
    labels: tuple[str, ...] = field(repr=False)  # of the published items, in their order among all labels of the data
    sizes: NDArray[np.int64]  # records of each cluster
    # Whether records of a cluster have items outside its chunks, so that no slot need be empty.
    opened: NDArray[np.bool_]
    chunk_cluster: NDArray[np.int32]  # the cluster of each chunk, or -1 for a shared one
    chunk_joint: NDArray[np.int32]  # the joint of each shared chunk
    chunk_ptr: NDArray[np.int64]
    sub_ptr: NDArray[np.int64]
    counts: NDArray[np.int64]
    items: NDArray[np.int32]
    joint_ptr: NDArray[np.int64]
    joint_clusters: NDArray[np.int32]  # the clusters of each joint, ascending
    # The cluster in which each item of `term_item` occurs, or -1 if that is not published.
    term_cluster: NDArray[np.int32]
    term_item: NDArray[np.int32]
    partition: str = "recursive"  # how records were put into clusters
    levels: int = 0  # how often neighbouring clusters were joined to share chunks
    terms: TermPolicy = "global"  # what became of items that are in no chunk

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
        """The number of chunks, including shared ones."""
        return int(self.chunk_cluster.size)

    @property
    def occurrences(self) -> int:
        """The number of items in all sub-records, with repetition."""
        return int((np.diff(self.sub_ptr) * self.counts).sum())

    def __repr__(self) -> str:
        """Describe the data by figures, never by items."""
        clusters, chunks = counted(self.clusters, "cluster"), counted(self.chunks, "chunk")
        size = f"{counted(self.n, 'record')} in {clusters} and {chunks}"
        return f"<Disassociated: {size}, k={self.k}, m={self.m}>"
