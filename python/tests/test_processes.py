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

from conftest import make_sentences


def test_threads_share_a_model(sentences, held_out):
    crf = CRF(c2=0.1).fit(*sentences)
    X = held_out[0] * 20
    expected = crf.predict(X), crf.predict_marginals(X[:30])
    found = [None] * 6

    def work(k):
        found[k] = crf.predict(X), crf.predict_marginals(X[:30])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)


def test_threads_train_at_the_same_time(sentences):
    expected = CRF(c2=0.1).fit(*sentences).model_._model.to_bytes()
    found = [None] * 3

    def work(k):
        found[k] = CRF(c2=0.1).fit(*sentences).model_._model.to_bytes()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * len(found)


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

    def measured(times):
        for _ in range(times):
            use()
        gc.collect()
        return len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    measured(100)
    objects, memory = measured(100)
    more_objects, more_memory = measured(800)
    assert more_objects - objects < 50
    assert more_memory - memory < 4096  # KiB; a model alone has 8 and more
