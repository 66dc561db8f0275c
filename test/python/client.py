"""A client of Commitbridge that knows the protos and nothing else.

    client.py commit|half|abort ADDRESS DESTINATION TOKEN
    client.py abort-only ADDRESS DESTINATION TOKEN
    client.py cancel-commit-task ADDRESS DESTINATION TOKEN

The modules that grpc_tools generated must be on PYTHONPATH. Each step that is done is a line of JSON on stdout.
"""

import http.client
import json
import sys
import time
import urllib.parse
import uuid

import grpc

from commitbridge.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    common_pb2,
    job_service_pb2,
    job_service_pb2_grpc,
    upload_service_pb2,
    upload_service_pb2_grpc,
)

FILES = 10


def say(step, **fields):
    print(json.dumps({"step": step, **fields}), flush=True)


def content_of(number):
    """Of different lengths, the last one over several parts; the first one is empty."""
    return b"" if number == 0 else (b"%d," % number) * (number * 1000 if number < FILES - 1 else 6_000_000)


def put(signed, body):
    """PUTs one part to its presigned URL and returns its ETag."""
    url = urllib.parse.urlsplit(signed.url)
    connection_class = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = connection_class(url.netloc, timeout=30)
    try:
        connection.request("PUT", f"{url.path}?{url.query}", body=body, headers=dict(signed.headers))
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(f"part {signed.part_number}: {response.status} {answer[:500]!r}")
        return response.headers["ETag"]
    finally:
        connection.close()


class Client:
    def __init__(self, address, destination, token):
        channel = grpc.insecure_channel(address)
        grpc.channel_ready_future(channel).result(timeout=20)
        self.jobs = job_service_pb2_grpc.JobServiceStub(channel)
        self.uploads = upload_service_pb2_grpc.UploadServiceStub(channel)
        self.admin = admin_service_pb2_grpc.AdminServiceStub(channel)
        self.destination = destination
        self.job = common_pb2.JobRef(tokens=[token], job_attempt=0, destination=destination)

    def setup_job(self):
        info = self.admin.GetServerInfo(admin_service_pb2.GetServerInfoRequest(destination=self.destination))
        assert info.min_protocol_version <= 1 <= info.max_protocol_version, info
        assert admin_service_pb2.DATA_PLANE_DIRECT in info.data_planes, info
        self.jobs.SetupJob(
            job_service_pb2.SetupJobRequest(
                job=self.job, setup_id=str(uuid.uuid4()), protocol_version=1, description="Python client"
            )
        )

    def attempt(self, task):
        return common_pb2.TaskAttemptRef(
            task=f"m-{task:06d}", attempt_number=0, attempt_id=f"attempt-{uuid.uuid4()}"
        )

    def write(self, attempt, name, content):
        """Opens a file, PUTs its parts, closes it."""
        opened = self.uploads.OpenFile(
            upload_service_pb2.OpenFileRequest(
                job=self.job, attempt=attempt, uri=f"{self.destination}/{name}", parts_to_sign=1
            )
        )
        signed = opened.signed_parts[0]
        parts = []
        at = 0
        while True:
            body = content[at : at + signed.size_bytes]
            etag = put(signed, body)
            parts.append(
                common_pb2.UploadedPart(part_number=signed.part_number, etag=etag, size_bytes=len(body))
            )
            at += len(body)
            if at >= len(content):
                return common_pb2.ClosedFile(pending=opened.file, parts=parts)
            signed = self.uploads.SignParts(
                upload_service_pb2.SignPartsRequest(
                    job=self.job,
                    attempt=attempt,
                    file=opened.file,
                    first_part_number=signed.part_number + 1,
                    count=1,
                )
            ).signed_parts[0]

    def messages(self, attempt, files):
        yield job_service_pb2.CommitTaskRequest(
            header=job_service_pb2.CommitTaskHeader(
                job=self.job, attempt=attempt, file_count=len(files)
            )
        )
        for file in files:
            yield job_service_pb2.CommitTaskRequest(files=job_service_pb2.ClosedFiles(files=[file]))

    def commit_task(self, attempt, files):
        return self.jobs.CommitTask(self.messages(attempt, files))


def run(mode, client):
    client.setup_job()
    say("set-up")
    for number in range(FILES):
        attempt = client.attempt(number)
        client.jobs.SetupTask(job_service_pb2.SetupTaskRequest(job=client.job, attempt=attempt))
        file = client.write(attempt, f"year={2020 + number}/part {number} é.csv", content_of(number))
        if mode == "half" and number == FILES // 2:
            say("half-way")
            time.sleep(600)  # until it is killed
        if mode == "abort" and number == FILES - 1:
            client.jobs.AbortTask(
                job_service_pb2.AbortTaskRequest(job=client.job, attempt=attempt, files=[file.pending])
            )
            continue
        committed = client.commit_task(attempt, [file])
        assert (committed.files, committed.bytes) == (1, len(content_of(number))), committed
    say("tasks-committed")
    if mode == "abort":
        answer = client.jobs.AbortJob(job_service_pb2.AbortJobRequest(job=client.job, reason="FAILED"))
        say("aborted", published=answer.published)
    else:
        answer = client.jobs.CommitJob(job_service_pb2.CommitJobRequest(job=client.job))
        say("committed", files=answer.files, bytes=answer.bytes, tasks=answer.tasks)


def abort_only(client):
    answer = client.jobs.AbortJob(job_service_pb2.AbortJobRequest(job=client.job, reason="client died"))
    say("aborted", published=answer.published)


def cancel_commit_task(client):
    """Cancels the stream after the first of two files, then commits the whole of it."""
    client.setup_job()
    attempt = client.attempt(0)
    files = [client.write(attempt, name, name.encode()) for name in ("a", "b")]

    def stuck():
        sent = client.messages(attempt, files)
        yield next(sent)
        yield next(sent)
        time.sleep(600)

    call = client.jobs.CommitTask.future(stuck())
    time.sleep(1)
    call.cancel()
    time.sleep(0.5)
    committed = client.commit_task(attempt, files)
    say("committed-task", files=committed.files)
    abort_only(client)


def main():
    mode, address, destination, token = sys.argv[1:]
    client = Client(address, destination, token)
    if mode == "abort-only":
        abort_only(client)
    elif mode == "cancel-commit-task":
        cancel_commit_task(client)
    else:
        run(mode, client)


if __name__ == "__main__":
    main()
