export { compileJar, type Sources } from './compile-jar.js';
export { installMavenJars, type MavenJars } from './maven-jars.js';
