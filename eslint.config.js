// The law that needs types or syntax trees; STYLE.md gives each rule's reason. Formatting is Biome's, floors are dependency-cruiser's.
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const size = { skipBlankLines: true, skipComments: true };

/** Syntax that `src/core` may not hold: what it would read (clock, chance, time zone, language of the host) must be an argument. */
const IMPURE = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Core takes the time as an argument.' },
  { selector: "CallExpression[callee.name='Date']", message: 'Core takes the time as an argument.' },
  {
    selector:
      'MemberExpression[property.name=/^[gs]et(FullYear|Month|Date|Day|Hours|Minutes|Seconds|TimezoneOffset)$/]',
    message: 'This reads the time zone of the host: use the UTC method, or take the zone as an argument.',
  },
  {
    selector: 'MemberExpression[property.name=/^(localeCompare|toLocale[A-Z]\\w*)$/]',
    message: 'This depends on the language of the host: compare with < and format by hand.',
  },
  { selector: 'AwaitExpression', message: 'Core is synchronous: let the caller wait and pass the result in.' },
  {
    selector: 'ForOfStatement[await=true]',
    message: 'Core is synchronous: let the caller wait and pass the result in.',
  },
  { selector: ':function[async=true]', message: 'Core is synchronous: let the caller wait and pass the result in.' },
];

const IMPURE_GLOBALS = [
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'crypto',
  'console',
  'performance',
  'Buffer',
  'globalThis',
];

/** A promise that only a timer resolves is a sleep; a timer that rejects (a deadline around a signal) is not. */
const SLEEP = [
  {
    selector: "NewExpression[callee.name='Promise'] > :function > CallExpression.body[callee.name='setTimeout']",
    message: 'Tests await signals and never sleep.',
  },
  {
    selector:
      "NewExpression[callee.name='Promise'] > :function > BlockStatement > ExpressionStatement:first-child:last-child > CallExpression[callee.name='setTimeout']",
    message: 'Tests await signals and never sleep.',
  },
  {
    selector: "ImportDeclaration[source.value='node:timers/promises']",
    message: 'Tests await signals and never sleep.',
  },
  {
    selector: "CallExpression[callee.object.name='Atomics'][callee.property.name='wait']",
    message: 'Tests await signals and never sleep.',
  },
];

export default defineConfig(
  { ignores: ['dist/', 'coverage/', '.sluice/', '**/*.js', '**/*.cjs', '**/*.mjs'] },
  {
    files: ['**/*.ts'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
    plugins: { '@typescript-eslint': tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      'max-lines-per-function': ['error', { max: 70, ...size }],
      'max-lines': ['error', { max: 400, ...size }],
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/**'],
    rules: {
      // The `any` that comes in by itself (JSON.parse, catch): look at it or say what it is.
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
    },
  },
  {
    files: ['src/core/**'],
    rules: {
      'no-restricted-globals': ['error', ...IMPURE_GLOBALS],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now' },
        { object: 'Math', property: 'random' },
      ],
      'no-restricted-syntax': ['error', ...IMPURE],
    },
  },
  {
    files: ['test/**'],
    rules: {
      // A `describe` callback is a list of tests, not a function that someone must hold in the head; files keep their limit.
      'max-lines-per-function': 'off',
      'no-restricted-syntax': ['error', ...SLEEP],
    },
  },
);
