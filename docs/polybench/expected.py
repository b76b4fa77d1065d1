"""What each kernel of polybench.yaml must compute, by NumPy.

    python3 expected.py KERNEL INPUTS OUTPUTS

reads INPUTS/NAME.npy of every buffer that is filled and INPUTS/numbers.json, and writes
OUTPUTS/NAME.npy of every buffer that is written. `python3 expected.py jacobi_1d` alone writes the
files that the suite names.
"""
import json
import sys
from pathlib import Path

import numpy as np


def gemm(a, b, c, m, n, k):
    return {"c": 1.5 * a.reshape(m, k) @ b.reshape(k, n) + 0.5 * c.reshape(m, n)}


def mm2(a, b, c, d, n):
    a, b, c, d = (x.reshape(n, n) for x in (a, b, c, d))
    tmp = 1.5 * a @ b
    return {"tmp": tmp, "d": tmp @ c + 0.5 * d}


def mm3(a, b, c, d, n):
    a, b, c, d = (x.reshape(n, n) for x in (a, b, c, d))
    return {"e": a @ b, "f": c @ d, "g": a @ b @ c @ d}


def atax(a, x, m, n):
    a = a.reshape(m, n)
    return {"tmp": a @ x, "y": a.T @ (a @ x)}


def bicg(a, r, p, m, n):
    a = a.reshape(m, n)
    return {"s": a.T @ r, "q": a @ p}


def mvt(a, y1, y2, x1, x2, n):
    a = a.reshape(n, n)
    return {"x1": x1 + a @ y1, "x2": x2 + a.T @ y2}


def gemver(a, u1, v1, u2, v2, y, z, n):
    a = a.reshape(n, n) + np.outer(u1, v1) + np.outer(u2, v2)
    x = 0.5 * a.T @ y + z
    return {"a": a, "x": x, "w": 1.5 * a @ x}


def gesummv(a, b, x, n):
    return {"y": 1.5 * a.reshape(n, n) @ x + 0.5 * b.reshape(n, n) @ x}


def syrk(a, c, m, n):
    a = a.reshape(n, m)
    return {"c": 1.5 * a @ a.T + 0.5 * c.reshape(n, n)}


def syr2k(a, b, c, m, n):
    a, b = a.reshape(n, m), b.reshape(n, m)
    return {"c": 1.5 * (a @ b.T + b @ a.T) + 0.5 * c.reshape(n, n)}


def correlation(data, m, n):
    data = data.reshape(m, n)
    mean, deviation = data.mean(axis=0), data.std(axis=0)
    deviation = np.where(deviation <= 0.1, 1, deviation)
    normal = (data - mean) / (np.sqrt(m) * deviation)
    return {"data": normal, "mean": mean, "deviation": deviation, "result": normal.T @ normal}


def covariance(data, m, n):
    data = data.reshape(m, n)
    centred = data - data.mean(axis=0)
    return {"data": centred, "mean": data.mean(axis=0), "result": np.cov(data, rowvar=False)}


def gramschmidt(a, r, m, n):
    a = a.reshape(m, n).copy()
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diag(r))
    q, r = q * sign, r * sign[:, None]
    # A column that was used keeps what was left of it then.
    return {"a": q * np.diag(r), "r": np.triu(r), "q": q}


def lu(a, n):
    a = a.reshape(n, n) + n * np.eye(n)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return {"a": a}


def adi(u, v, factor, n, steps):
    r, inner = 0.25, n - 2
    matrix = (1 + 2 * r) * np.eye(inner) - r * (np.eye(inner, k=1) + np.eye(inner, k=-1))
    pivots = [0.0]
    for _ in range(inner):
        pivots.append(r / (1 + 2 * r - r * pivots[-1]))
    u, v, factor = (x.reshape(n, n).copy() for x in (u, v, factor))
    for half in range(2 * steps):
        # Lines are rows in even halves and columns in odd ones.
        source, target = (u, v) if half % 2 == 0 else (u.T, v.T)
        across = source[:-2, 1:-1] - 2 * source[1:-1, 1:-1] + source[2:, 1:-1]
        right = source[1:-1, 1:-1] + r * across
        target[1:-1, 1:-1] = np.linalg.solve(matrix, right.T).T
        lines = factor if half % 2 == 0 else factor.T
        lines[1:-1, 1:-1] = pivots[1:]
        u, v = v, u
    return {"u": u, "v": v, "factor": factor}


def doitgen(cube, c4, r, q, n):
    cube = cube.reshape(r, q, n) @ c4.reshape(n, n)
    return {"cube": cube, "sum": cube}


def jacobi(a, b, step, steps):
    for _ in range(steps):
        step(a, b)
        a, b = b, a
    return {"a": a, "b": b}


def jacobi_1d(a, b, n, steps):
    def step(source, target):
        target[1:-1] = (source[:-2] + source[1:-1] + source[2:]) / 3

    return jacobi(a, b, step, steps)


def jacobi_2d(a, b, n, steps):
    def step(s, target):
        around = s[1:-1, :-2] + s[1:-1, 2:] + s[:-2, 1:-1] + s[2:, 1:-1]
        target[1:-1, 1:-1] = 0.2 * (s[1:-1, 1:-1] + around)

    return jacobi(a.reshape(n, n), b.reshape(n, n), step, steps)


def fdtd_2d(ex, ey, hz, m, n, steps):
    ex, ey, hz = (x.reshape(m, n) for x in (ex, ey, hz))
    for t in range(steps):
        ey[0] = t
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return {"ex": ex, "ey": ey, "hz": hz}


def convolution_2d(to, m, n, **inputs):
    source, to = inputs["from"].reshape(m, n), to.reshape(m, n).copy()
    weights = np.array([[0.2, -0.3, 0.4], [0.5, 0.6, 0.7], [-0.8, -0.9, 0.1]])
    for y in range(3):
        for x in range(3):
            to[1:-1, 1:-1] += weights[y, x] * source[y : m - 2 + y, x : n - 2 + x]
    return {"to": to}


def convolution_3d(to, n, **inputs):
    source, to = inputs["from"].reshape(n, n, n), to.reshape(n, n, n).copy()
    for i in range(27):
        x, y, z = i % 3, i // 3 % 3, i // 9
        part = source[z : n - 2 + z, y : n - 2 + y, x : n - 2 + x]
        to[1:-1, 1:-1, 1:-1] += 0.05 * (i - 12) * part
    return {"to": to}


def main(kernel, inputs=None, outputs=None):
    function = globals()[{"2mm": "mm2", "3mm": "mm3"}.get(kernel, kernel)]
    if inputs is None:
        line = np.arange(120, dtype=np.float64)
        for name, array in jacobi_1d(line, np.zeros_like(line), 120, 11).items():
            np.save(Path(__file__).with_name(f"{kernel}_{name}.npy"), array.astype(np.float32))
        return
    numbers = json.loads(Path(inputs, "numbers.json").read_text())
    arrays = {path.stem: np.load(path).astype(np.float64) for path in Path(inputs).glob("*.npy")}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {name: int(numbers[name]) for name in names if name not in arrays}
    for name, array in function(**arrays, **given).items():
        np.save(Path(outputs, f"{name}.npy"), np.ascontiguousarray(array, dtype=np.float32))


if __name__ == "__main__":
    main(*sys.argv[1:])
