package io.commitbridge.it.mapreduce;

import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/**
 * HDFS, YARN with two NodeManagers, and MapReduce's history server in this JVM; application masters and tasks are JVMs
 * of their own, with the class path of the argument and what comes with their job. Everything is below the working
 * directory.
 *
 * <p>Writes {@code core-site.xml} and {@code yarn-site.xml} for clients into {@code cluster}, prints a line of JSON, and
 * runs until it gets a signal.
 */
public final class HadoopCluster {
  private static final int NODE_MANAGERS = 2;

  private HadoopCluster() {}

  public static void main(String[] args) throws Exception {
    try {
      run(args[0]);
    } catch (Throwable e) {
      e.printStackTrace();
      // Services that did start would keep the JVM alive.
      Runtime.getRuntime().halt(1);
    }
  }

  private static void run(String nodeClassPath) throws Exception {
    File home = new File("").getAbsoluteFile();
    Configuration conf = new YarnConfiguration();
    conf.set("hadoop.tmp.dir", home + "/tmp");
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, home + "/dfs");
    conf.setBoolean("dfs.permissions.enabled", false);
    // Nothing waits for a disk: the data lives for minutes.
    conf.setBoolean("dfs.namenode.edits.noeditlogchannelflush", true);
    MiniDFSCluster dfs = new MiniDFSCluster.Builder(conf).numDataNodes(1).build();
    dfs.waitActive();
    conf.set("fs.defaultFS", dfs.getURI().toString());

    setUpYarn(conf, home, nodeClassPath);
    MiniMRYarnCluster yarn = new MiniMRYarnCluster("mr", NODE_MANAGERS);
    yarn.init(conf);
    yarn.start();

    File directory = new File(home, "cluster");
    directory.mkdir();
    // Hadoop reads the defaults of MapReduce and YARN after the one and before the other.
    for (String name : new String[] {"core-site.xml", "yarn-site.xml"}) {
      try (OutputStream out = new FileOutputStream(new File(directory, name))) {
        own(yarn.getConfig()).writeXml(out);
      }
    }
    dfs.getFileSystem().mkdirs(new Path("/input"));
    System.out.println("{\"event\":\"started\",\"nodes\":[" + yarn.getNodeManager(0).getNMContext().getNodeId().getPort()
        + "," + yarn.getNodeManager(1).getNMContext().getNodeId().getPort() + "]}");

    CountDownLatch stopped = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      yarn.stop();
      dfs.shutdown();
      stopped.countDown();
    }));
    stopped.await();
  }

  /** What isn't Hadoop's default. */
  private static Configuration own(Configuration conf) {
    Configuration own = new Configuration(false);
    for (Map.Entry<String, String> entry : conf) {
      String[] sources = conf.getPropertySources(entry.getKey());
      if (sources == null || !sources[sources.length - 1].endsWith("-default.xml")) {
        own.set(entry.getKey(), conf.getRaw(entry.getKey()));
      }
    }
    // Else a client gives the containers its own class path, and with it what only a gateway has.
    own.setBoolean(YarnConfiguration.IS_MINI_YARN_CLUSTER, false);
    return own;
  }

  private static void setUpYarn(Configuration conf, File home, String nodeClassPath) {
    conf.setInt(YarnConfiguration.RM_AM_MAX_ATTEMPTS, 4);
    conf.setLong(YarnConfiguration.RM_NM_HEARTBEAT_INTERVAL_MS, 100);
    conf.setInt(YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB, 128);
    // Nobody takes that much: application masters must never keep each other's tasks out.
    conf.setInt(YarnConfiguration.YARN_MINICLUSTER_NM_PMEM_MB, 8_192);
    // An application master that is told to end may take so long to abort its job.
    conf.setLong(YarnConfiguration.NM_SLEEP_DELAY_BEFORE_SIGKILL_MS, 20_000);
    conf.setBoolean(YarnConfiguration.NM_PMEM_CHECK_ENABLED, false);
    conf.setBoolean(YarnConfiguration.NM_VMEM_CHECK_ENABLED, false);
    // A developer's disk may be fuller than the NodeManager likes.
    conf.setFloat(YarnConfiguration.NM_MAX_PER_DISK_UTILIZATION_PERCENTAGE, 99.9f);
    conf.setFloat("yarn.scheduler.capacity.maximum-am-resource-percent", 1.0f);
    // One container a heartbeat: the tasks of a job are spread over both nodes, also the slow one of the speculation.
    conf.setBoolean("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", false);
    // Containers that outlive this JVM shall not do so for long.
    conf.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_MAX_WAIT_MS, 60_000);
    conf.setLong(YarnConfiguration.RESOURCEMANAGER_CONNECT_RETRY_INTERVAL_MS, 1_000);

    conf.setInt(MRJobConfig.MR_AM_VMEM_MB, 512);
    conf.setInt(MRJobConfig.MR_AM_TO_RM_HEARTBEAT_INTERVAL_MS, 100);
    conf.setInt(MRJobConfig.MAP_MEMORY_MB, 256);
    conf.setInt(MRJobConfig.REDUCE_MEMORY_MB, 256);
    conf.setInt(MRJobConfig.IO_SORT_MB, 16);
    // What is installed on a node goes first: an archive of its classes asks for that.
    String classPath = " -cp '" + nodeClassPath + ":$CLASSPATH'";
    String jvm = " -XX:+UseSerialGC -XX:TieredStopAtLevel=1 @" + home + "/jvm-options" + classPath;
    conf.set(MRJobConfig.MR_AM_COMMAND_OPTS, "-Xmx320m" + jvm);
    conf.set(MRJobConfig.MAP_JAVA_OPTS, "-Xmx200m" + jvm);
    conf.set(MRJobConfig.REDUCE_JAVA_OPTS, "-Xmx200m" + jvm);
    conf.setBoolean(MRJobConfig.JOB_UBERTASK_ENABLE, false);
    conf.setBoolean(MRJobConfig.MAP_SPECULATIVE, false);
    conf.setBoolean(MRJobConfig.REDUCE_SPECULATIVE, false);
    conf.setInt("mapreduce.client.completion.pollinterval", 200);
    conf.setInt("mapreduce.client.progressmonitor.pollinterval", 200);
  }
}
