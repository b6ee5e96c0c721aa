"""One thread of BLAS within a block, and the caller's number after it."""

import threading

import scipy.linalg  # noqa: F401 - its BLAS is among those that are counted, whichever test runs first
from threadpoolctl import threadpool_info, threadpool_limits

from pydine.work.threads import one_thread


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_caller_s_number_comes_back():
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with one_thread():
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before


def test_blocks_of_other_threads_may_overlap():
    before, entered, leave = threads(), threading.Event(), threading.Event()

    def other():
        with one_thread():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait()
    assert threads() == {1}
    leave.set()
    thread.join()
    assert threads() == before
