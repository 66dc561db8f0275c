package io.commitbridge.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.commitbridge.CommitbridgeException;
import io.commitbridge.ConfKeys;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobID;
import org.junit.jupiter.api.Test;

class JobTokensTest {
  private static final JobID ID = new JobID("20260101120000", 3);
  private static final String DESTINATION = "s3a://b/t";
  private final Configuration conf = new Configuration(false);

  private List<String> names(JobID id) throws CommitbridgeException {
    return JobTokens.candidates(conf, id, DESTINATION);
  }

  @Test
  void sparkSqlDriverHasNoJobIdAndTasksHaveAnother() throws Exception {
    conf.set("spark.app.id", "app-1");
    conf.set(JobTokens.SPARK_WRITE_UUID, "uuid-1");
    assertEquals("uuid-1", JobTokens.forSetup(conf, null, DESTINATION));
    assertEquals(Arrays.asList("app-1-job_20260101120000_0003", "uuid-1"), names(ID));
  }

  @Test
  void sparkRddTasksOfPlainConfigurationSeeTheJobIdOnly() throws Exception {
    conf.set("spark.app.id", "app-1");
    conf.set(JobTokens.SPARK_WRITE_UUID, "uuid-1");
    String setUp = JobTokens.forSetup(conf, ID, DESTINATION);
    conf.unset(JobTokens.SPARK_WRITE_UUID);
    assertEquals(Collections.singletonList(setUp), names(ID));
  }

  @Test
  void ownTokenGoesBeforeAll() throws Exception {
    conf.set("spark.app.id", "app-1");
    conf.set(JobTokens.SPARK_WRITE_UUID, "uuid-1");
    conf.set(JobTokens.TEZ_COMMITTER_UUID, "tez-1");
    conf.set(ConfKeys.INTERNAL_JOB_TOKEN, "made-1");
    conf.set(ConfKeys.JOB_TOKEN, "mine");
    assertEquals(Arrays.asList("mine", "app-1-job_20260101120000_0003", "uuid-1", "tez-1",
        "made-1"), names(ID));
  }

  @Test
  void mapReduceUsesTheJobId() throws Exception {
    assertEquals(Collections.singletonList("job_20260101120000_0003"), names(ID));
  }

  @Test
  void sparksJobIdAloneIsNoName() throws Exception {
    conf.set(JobTokens.SPARK_WRITE_UUID, "uuid-1");
    assertEquals(Collections.singletonList("uuid-1"), names(ID));
  }

  @Test
  void localJobRunnersIdsGetWhatIsTheJobsOwn() throws Exception {
    JobID local = new JobID("local123", 1);
    conf.set("mapreduce.job.dir", "file:/tmp/staging/user1/.staging/job_local123_0001");
    String first = names(local).get(0);
    assertEquals(first, names(local).get(0));
    conf.set("mapreduce.job.dir", "file:/tmp/staging/user2/.staging/job_local123_0001");
    assertNotEquals(first, names(local).get(0));
    assertNotEquals(names(local), JobTokens.candidates(conf, local, "s3a://b/other"));
    assertTrue(first.startsWith("job_local123_0001-"), first);
  }

  @Test
  void madeTokenIsNewForEachWriteAndReachesTasks() throws Exception {
    String first = JobTokens.forSetup(conf, null, DESTINATION);
    assertEquals(first, JobTokens.candidates(conf, null, DESTINATION).get(0));
    assertNotEquals(first, JobTokens.forSetup(conf, null, DESTINATION));
  }

  @Test
  void deadTokenIsNotCarriedIntoTheNextWrite() throws Exception {
    JobTokens.forSetup(conf, null, DESTINATION);
    conf.set(JobTokens.SPARK_WRITE_UUID, "uuid-2");
    assertEquals("uuid-2", JobTokens.forSetup(conf, null, DESTINATION));
    assertEquals(Collections.singletonList("uuid-2"), names(null));
  }

  @Test
  void taskWithoutAnyNameIsRefused() {
    CommitbridgeException e = assertThrows(CommitbridgeException.class,
        () -> JobTokens.required(conf, null, DESTINATION));
    assertTrue(e.getMessage().contains(ConfKeys.JOB_TOKEN), e.getMessage());
    assertTrue(e.getMessage().contains(JobTokens.SPARK_WRITE_UUID), e.getMessage());
    assertTrue(e.getMessage().contains(DESTINATION), e.getMessage());
  }

  @Test
  void tokensMatchTheProtocol() throws Exception {
    conf.set("spark.app.id", "app 1/ü");
    assertEquals("app-1---job_20260101120000_0003", names(ID).get(0));
    conf.set(ConfKeys.JOB_TOKEN, "a/b");
    CommitbridgeException e =
        assertThrows(CommitbridgeException.class, () -> names(ID));
    assertTrue(e.getMessage().contains(ConfKeys.JOB_TOKEN), e.getMessage());
  }
}
