import { join } from 'node:path';
import { version } from '../../src/version.js';
import { repoRoot } from '../../test/support/servers/index.js';

/** Commitbridge's jar, as Maven builds it. */
export const bundleJar = join(repoRoot, `java-shim/bundle/target/commitbridge-hadoop-${version}.jar`);
