"""The data sets as NumPy and SciPy have them: what a peer trains on is what the program reads."""

import gzip

import numpy as np
from scipy import sparse


def idx(path):
    """An IDX file of bytes."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    dimensions = content[3]
    shape = np.frombuffer(content, ">i4", dimensions, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist(folder, first):
    """Pixels/255 as a dense matrix, and labels."""
    images = idx(folder / "train-images-idx3-ubyte.gz")[:first]
    return images.reshape(len(images), -1) / 255.0, idx(folder / "train-labels-idx1-ubyte.gz")[:first].astype(int)


def libsvm(path):
    """A LIBSVM file as a sparse matrix, and labels."""
    labels, values, columns, starts = [], [], [], [0]
    with gzip.open(path, "rt") as file:
        for line in file:
            label, *entries = line.split()
            labels.append(int(label))
            for entry in entries:
                column, value = entry.split(":")
                columns.append(int(column) - 1)
                values.append(float(value))
            starts.append(len(values))
    return sparse.csr_matrix((values, columns, starts)), np.array(labels)
