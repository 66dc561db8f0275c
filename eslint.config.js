import eslint from '@eslint/js';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import tseslint from 'typescript-eslint';

/** Which folders of src may import which: everything else is forbidden. */
const layers = {
  core: [],
  ports: ['core'],
  app: ['core', 'ports'],
  adapters: ['core', 'ports'],
  config: ['core'],
  observability: ['core', 'ports'],
  rpc: ['core', 'ports', 'app', 'config'],
};
const allFolders = [...Object.keys(layers), 'cli'];
const zones = Object.entries(layers).map(([folder, allowed]) => ({
  target: `./src/${folder}`,
  from: [
    ...allFolders
      .filter((other) => other !== folder && !allowed.includes(other))
      .map((other) => `./src/${other}`),
    './src/wiring.ts',
    './src/main.ts',
  ],
  message: `src/${folder} may import ${allowed.length === 0 ? 'nothing of src' : allowed.join(', ')} only.`,
}));

const clockMessage =
  'Time and chance come from the Clock and Random ports, so that the engine runs in a simulation.';
const bannedGlobals = [
  ...['performance', 'setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
    name,
    message: clockMessage,
  })),
  { name: 'console', message: 'Results go through src/cli/io.ts, everything else through the Logger port.' },
];
/** `new Date(ms)` only converts; these read the clock. */
const bannedSyntax = [
  "NewExpression[callee.name='Date'][arguments.length=0]",
  "CallExpression[callee.name='Date']",
  "CallExpression[callee.object.name='Date'][callee.property.name='now']",
].map((selector) => ({ selector, message: clockMessage }));
const bannedProperties = [
  { object: 'Math', property: 'random', message: clockMessage },
  {
    object: 'process',
    property: 'env',
    message: 'src/main.ts hands the environment to src/cli and src/config.',
  },
  {
    object: 'process',
    property: 'exit',
    message: 'Set process.exitCode in src/main.ts: log lines may be pending.',
  },
];
const bannedModules = {
  grpc: { group: ['@grpc/*', 'grpc-health-check'], message: 'gRPC stays in src/rpc and src/cli.' },
  aws: { group: ['@aws-sdk/*', '@smithy/*'], message: 'The AWS SDK stays in src/adapters/s3.' },
  oss: { group: ['ali-oss', 'ali-oss/*'], message: 'ali-oss stays in src/adapters/oss.' },
  winston: {
    group: ['winston', 'winston/*', 'prom-client'],
    message: 'Logs and metrics go through their ports.',
  },
  timers: { group: ['node:timers', 'node:timers/*', 'timers', 'timers/*'], message: clockMessage },
};
const bannedNames = [
  {
    name: 'node:crypto',
    importNames: ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'getRandomValues'],
    message: clockMessage,
  },
];

/** All bans but the named ones, since a later entry of a rule replaces an earlier one whole. */
function importBansWithout(...names) {
  const patterns = Object.entries(bannedModules)
    .filter(([name]) => !names.includes(name))
    .map(([, ban]) => ban);
  const paths = names.includes('random') ? [] : bannedNames;
  return ['error', { paths, patterns }];
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'java-shim/', 'src/rpc/generated/', '.cache/', 'test-results/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/resolver-next': [
        createNodeResolver({ extensions: ['.ts', '.js'], extensionAlias: { '.js': ['.ts', '.js'] } }),
      ],
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // It asks for the `!` that no-non-null-assertion forbids.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // Methods that implement a port without waiting for anything.
      '@typescript-eslint/require-await': 'off',
      'import-x/no-cycle': 'error',
      'max-lines': ['warn', { max: 400, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones }],
      'no-restricted-globals': ['error', ...bannedGlobals],
      'no-restricted-properties': ['error', ...bannedProperties],
      'no-restricted-syntax': ['error', ...bannedSyntax],
      'no-restricted-imports': importBansWithout(),
    },
  },
  { files: ['src/rpc/**/*.ts'], rules: { 'no-restricted-imports': importBansWithout('grpc') } },
  { files: ['src/adapters/s3/**/*.ts'], rules: { 'no-restricted-imports': importBansWithout('aws') } },
  { files: ['src/adapters/oss/**/*.ts'], rules: { 'no-restricted-imports': importBansWithout('oss') } },
  { files: ['src/observability/**/*.ts'], rules: { 'no-restricted-imports': importBansWithout('winston') } },
  {
    // Its signing secret and upload ids are the store's own, not the engine's.
    files: ['src/adapters/memory/**/*.ts'],
    rules: { 'no-restricted-imports': importBansWithout('random') },
  },
  {
    files: ['src/adapters/system/**/*.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-imports': importBansWithout('timers', 'random'),
    },
  },
  {
    files: ['src/cli/**/*.ts', 'src/main.ts', 'src/wiring.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': 'off',
      'no-restricted-imports': importBansWithout('grpc', 'timers', 'random'),
    },
  },
  {
    files: ['test/**/*.ts', 'scripts/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Matchers are `any`, and a check that the types make needless may be what a test is about.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      // expect(x.method) and the like.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'fetch',
          'Buffer',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'AbortSignal',
        ]
          .concat(['clearInterval', 'AbortController', 'performance', 'TextDecoder', 'TextEncoder'])
          .map((name) => [name, 'readonly']),
      ),
    },
  },
);
