export { Gateway, type ClientOptions, type GatewayOptions } from './gateway.js';
export { HadoopCluster } from './hadoop-cluster.js';
export { buildHadoopJobs, defaultHadoop, installHadoopJars } from './hadoop-jars.js';
export type { Container } from './containers.js';
export type { Program, ProgramResult } from './program.js';
