"""What the scripts of calls in Python share: one line a call, and a last line with how many were tried and passed."""

import json
import os
import traceback

env = os.environ
endpoint, region, bucket = env["OSS_ENDPOINT"], env["OSS_REGION"], env["OSS_BUCKET"]
key_id, key_secret = env["OSS_ACCESS_KEY_ID"], env["OSS_ACCESS_KEY_SECRET"]
sts_key_id, sts_key_secret = env["OSS_STS_ACCESS_KEY_ID"], env["OSS_STS_ACCESS_KEY_SECRET"]
sts_token = env["OSS_STS_TOKEN"]
signature = env["OSS_SIGNATURE"]

MIN_PART = 100 * 1024
ODD_KEY = "odd/a b+c&d=é%2F..//~!'()*/中文 🙂.txt"

tried = passed = 0


def call(action):
    """Decorates a call that is tried at once; it passes when it raises nothing."""
    global tried, passed
    name = action.__name__.replace("_", " ")
    tried += 1
    try:
        action()
        passed += 1
        print(f"ok      {name}")
    except Exception:
        print(f"FAILED  {name}\n{traceback.format_exc()}")
    return action


def equal(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} instead of {expected!r}")


def finish():
    print(json.dumps({"tried": tried, "passed": passed}))
