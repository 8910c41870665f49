// Who may import whom. One line a rule; each name is the message a developer reads. test/law/import-rules.test.ts sees every rule fire.
const FACE =
  '^src/(store/store|sources/source|files/files|catalogs/catalog|executors/executor|tasks/task|targets/target|alerts/alert)\\.ts$';
// store.ts is the one door to the store: what it is made of stands in store/face, which only it imports.
const FACE_PART = '^src/store/face/';
const BACK = '^src/(store|sources|files|catalogs|executors|tasks|targets|alerts)/';
const COMPOSE = '^src/compose/';
const npm = (...names) => `node_modules/(${names.join('|')})/`;
const never = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    never('no-circle', {}, { circular: true }),
    never('core-is-pure', { path: '^src/core/' }, { pathNot: ['^src/core/', npm('croner')] }),
    never('runtime-knows-core-only', { path: '^src/runtime/' }, { path: '^src/', pathNot: '^src/(core|runtime)/' }),
    never('config-knows-core-only', { path: '^src/config/' }, { path: '^src/', pathNot: '^src/(core|config)/' }),
    never('face-knows-core-only', { path: [FACE, FACE_PART] }, { pathNot: ['^src/core/', FACE, FACE_PART] }),
    never('adapters-do-not-meet', { path: BACK }, { path: BACK, pathNot: ['^src/$1/', FACE] }),
    // Two formats, or two stores of bytes, share what their parent folder holds; one never reaches into the other's folder.
    never('siblings-do-not-meet', { path: `${BACK}([^/]+)/` }, { path: '^src/$1/[^/]+/', pathNot: '^src/$1/$2/' }),
    // config too: a back is handed its settings, so that it can be tested and reused without the file they came from.
    never('adapters-look-down', { path: BACK }, { path: '^src/(config|master|worker|api|cli|compose)/' }),
    never('loops-see-faces', { path: '^src/(master|worker|api)/' }, { path: BACK, pathNot: FACE }),
    never(
      'loops-do-not-meet',
      { path: '^src/(master|worker|api)/' },
      { path: '^src/(config|master|worker|api|cli|compose)/', pathNot: '^src/$1/' },
    ),
    never(
      'contract-is-pure',
      { path: '^src/api/contract/' },
      { path: '^src/', pathNot: ['^src/api/contract/', '^src/core/'] },
    ),
    never('compose-knows-no-command', { path: COMPOSE }, { path: '^src/cli/' }),
    never(
      'cli-asks-compose',
      { path: '^src/cli/' },
      { path: '^src/', pathNot: '^src/(cli|compose|config|core|runtime|api/contract)/' },
    ),
    // The demo and the benchmarks are programs of their own, so they may compose as the command line does.
    never('only-cli-composes', { pathNot: ['^(src/cli/|test/|demo/|bench/)', COMPOSE] }, { path: COMPOSE }),
    never('web-sees-the-contract', { path: '^web/' }, { path: '^src/', pathNot: '^src/api/contract/' }),
    never(
      'sql-drivers-at-home',
      { path: '^(src|web)/', pathNot: '^src/store/' },
      { path: [npm('pg', 'mysql2', 'better-sqlite3', 'kysely'), '^(node:)?sqlite$'] },
    ),
    never(
      'cluster-client-at-home',
      { path: '^(src|web)/', pathNot: '^src/executors/' },
      { path: npm('@kubernetes/client-node') },
    ),
    never(
      'http-server-at-home',
      { path: '^(src|web)/', pathNot: '^src/api/' },
      { path: npm('fastify', '@fastify/[^/]+') },
    ),
    never('product-never-sees-test', { path: '^(src|web)/' }, { path: '^(test|demo|bench|scripts)/' }),
    never('no-dev-dependency', { path: '^src/' }, { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] }),
    // The two scripts are run by browsers and imported by nobody.
    never('no-orphan', { orphan: true, pathNot: '\\.d\\.ts$|/(first|weak-texts)\\.js$' }, {}),
    never('resolvable', {}, { couldNotResolve: true }),
  ],
  options: {
    tsPreCompilationDeps: true, // type imports count: a type circle is a circle
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
};
