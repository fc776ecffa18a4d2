"""Threads, processes, signals and memory."""

import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import warnings

import pytest

import espalier
from espalier import CRF, metrics

from conftest import OTHER_TASKS, make_sentences


def in_threads(count, work):
    """What work() returns, called by so many threads at the same time."""
    found = [None] * count

    def call(k):
        found[k] = work()

    threads = [threading.Thread(target=call, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def predicted(estimator, X):
    """As a list, whatever it is."""
    return [getattr(part, "tolist", lambda part=part: part)() for part in estimator.predict(X)]


def test_threads_share_a_model(sentences, held_out):
    crf = CRF(c2=0.1).fit(*sentences)
    X = held_out[0] * 20
    expected = crf.predict(X), crf.predict_marginals(X[:30])
    assert in_threads(6, lambda: (crf.predict(X), crf.predict_marginals(X[:30]))) == [expected] * 6


def test_threads_train_at_the_same_time(sentences):
    expected = CRF(c2=0.1).fit(*sentences).model_._model.to_bytes()
    assert in_threads(3, lambda: CRF(c2=0.1).fit(*sentences).model_._model.to_bytes()) == [expected] * 3


@pytest.mark.parametrize("make", OTHER_TASKS)
def test_threads_of_other_tasks(make):
    unfitted, data = make()
    fitted = unfitted.fit(*data)
    expected = predicted(fitted, data[0]), fitted.model_._model.to_bytes()

    def work():
        again = make()[0].fit(*data)
        return predicted(fitted, data[0]), again.model_._model.to_bytes()

    assert in_threads(4, work) == [expected] * 4


def test_other_threads_run_while_it_trains():
    X, y = make_sentences(400)
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(None)
            done.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = len(counted)
    CRF(c2=1e-4, gap=1e-12, passes=300, solver="lbfgs").fit(X, y)
    done.set()
    thread.join()
    assert len(counted) - before > 5


def _fit_and_predict(queue, crf, X, y):
    queue.put((crf.predict(X), CRF(c2=0.1, threads=2).fit(X, y).predict(X)))


def test_after_a_fork(sentences):
    X, y = sentences
    crf = CRF(c2=0.1, threads=2).fit(X, y)
    crf.predict(X)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_fit_and_predict, args=(queue, crf, X, y))
    process.start()
    used, fitted = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0 and used == crf.predict(X)
    assert metrics.flat_accuracy_score(y, fitted) > 0.95


def _fit_and_predict_again(queue, estimator, data):
    again = type(estimator)(**{**estimator.get_params(), "threads": 2}).fit(*data)
    queue.put((predicted(estimator, data[0]), again.certificate_.relative_gap <= again.gap, predicted(again, data[0])))


@pytest.mark.parametrize("make", OTHER_TASKS)
def test_other_tasks_after_a_fork(make):
    estimator, data = make()
    estimator.set_params(threads=2).fit(*data)
    expected = predicted(estimator, data[0])
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_fit_and_predict_again, args=(queue, estimator, data))
    process.start()
    used, converged, again = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0 and used == expected and converged and len(again) == len(expected)


LONG = """
import os, signal, sys, threading, time, warnings
sys.path.insert(0, {folder!r})
from conftest import make_sentences
from espalier import CRF
X, y = make_sentences(2000)
warnings.simplefilter("always")
class Signal:  # once the first report is there
    def write(self, text):
        if text.startswith("pass"): os.kill(os.getpid(), signal.SIGINT)
    def flush(self): pass
"""


def run_long(code):
    code = LONG.format(folder=os.path.dirname(__file__)) + code
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_an_interrupt_keeps_the_model():
    done = run_long(
        """
sys.stdout = Signal()
crf = CRF(c2=1e-5, gap=1e-12, solver="lbfgs", passes=1e6, verbose=True).fit(X, y)
sys.stdout = sys.__stdout__
print(crf.status_, len(crf.history_) < 1000, len(crf.predict(X[:3])))
"""
    )
    assert done.stdout == "stopped True 3\n", done.stderr
    assert "RuntimeWarning: interrupted; the model is the one so far: stopped: relative gap" in done.stderr


def test_an_interrupt_keeps_the_models_of_other_tasks():
    done = run_long(
        """
from conftest import OTHER_TASKS
for make in OTHER_TASKS:
    estimator, data = make()
    estimator.set_params(l2=1e-5, gap=0, passes=1e7, report_every=1, solver="sgd", verbose=True)
    sys.stdout = Signal()
    estimator.fit(*data)
    sys.stdout = sys.__stdout__
    print(type(estimator).__name__, estimator.status_, len(estimator.predict(data[0])) == len(data[0]))
"""
    )
    names = ("Classifier", "Parser", "TreebankParser", "GraphModel", "Aligner")
    assert done.stdout == "".join(f"{name} stopped True\n" for name in names), done.stderr
    assert done.stderr.count("RuntimeWarning: interrupted; the model is the one so far: stopped: ") == len(names)


def test_an_interrupt_before_the_first_pass_raises():
    done = run_long(
        """
def later(): time.sleep(0.05); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later).start()
try: CRF(c2=1e-5).fit([X[0]] * 10**7, [y[0]] * 10**7)
except KeyboardInterrupt: print("KeyboardInterrupt")
"""
    )
    assert done.stdout == "KeyboardInterrupt\n", done.stderr


def test_handlers_that_raise_end_training():
    done = run_long(
        """
class Alarm(Exception): pass
def handler(number, frame): raise Alarm
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
crf = CRF(c2=1e-7, gap=1e-14, solver="sgd", passes=1e6)
try: crf.fit(X, y)
except Alarm: print("Alarm", hasattr(crf, "model_"))
"""
    )
    assert done.stdout == "Alarm False\n", done.stderr


def check_for_leaks(use, times):
    """Objects and memory after so many calls of use(), against those after a few."""

    def measured(times):
        for _ in range(times):
            use()
        gc.collect()
        return len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    measured(times // 10)
    objects, memory = measured(times // 10)
    more_objects, more_memory = measured(times)
    assert more_objects - objects < 50
    assert more_memory - memory < 4096  # KiB; a model alone has 8 and more


def test_nothing_leaks():
    X, y = make_sentences(20)
    crf = CRF(c2=0.1, passes=5)

    def use():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            crf.fit(X, y)
        crf.predict(X)
        crf.predict_marginals(X)
        crf.predict_kbest(X[:3], 2)
        crf.explain(X[0])
        with pytest.raises(espalier.Error):
            crf.predict([[{"a": None}]])
        with pytest.raises(espalier.Error):
            CRF(c2=0.1).fit(X, y[:1])

    check_for_leaks(use, 1000)


@pytest.mark.parametrize("make", OTHER_TASKS)
def test_nothing_leaks_of_other_tasks(make):
    estimator, data = make()
    estimator.set_params(passes=3)
    X = data[0]

    def use():
        fitted = estimator.fit(*data)
        fitted.predict(X)
        for method in ("predict_proba", "predict_marginals"):
            if hasattr(fitted, method):
                getattr(fitted, method)(X)
        if hasattr(fitted, "predict_kbest"):
            fitted.predict_kbest(X, 2)
        fitted.score(*data)
        with pytest.raises((TypeError, ValueError)):
            fitted.predict([object()])
        with pytest.raises((TypeError, ValueError)):
            estimator.fit([object()], *data[1:])

    check_for_leaks(use, 1000)
