// Type-aware linting: a forgotten await on an activity or a query is a lost row, so it fails the build.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** A number, or a duration in quotes. 0 and 1 are left: they switch something off, or do it once. */
const AMOUNT = String.raw`[raw=/^['"]?(0?\.\d|[2-9]|1[\d_.a-z])/]`;
const LENGTH_OF_TIME = String.raw`/(timeout|timeoutMs|timeoutMillis|interval|delay|deadline|backoff|maximumAttempts|backoffCoefficient)$/i`;
const WAIT = String.raw`CallExpression[callee.name=/^(setTimeout|setInterval|sleep|delay)$/]`;

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.partner-sync/', 'coverage/', 'bench/peers/'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // What a file takes from a module is read in one place, values and types alike.
      'no-duplicate-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-restricted-properties': [
        'error',
        {
          property: 'offset',
          message: 'Page by key (keyset), never by OFFSET: rows deleted meanwhile would be skipped.',
        },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      parserOptions: { projectService: false },
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        module: 'writable',
      },
    },
  },
  {
    name: 'timeouts are in the table',
    files: ['src/**/*.ts', 'activities/**/*.ts', 'workflows/**/*.ts'],
    ignores: ['src/domain/timeouts/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          `${WAIT} > Literal.arguments${AMOUNT}`,
          `${WAIT} > BinaryExpression.arguments > Literal.left${AMOUNT}`,
          `CallExpression[callee.object.name='AbortSignal'][callee.property.name='timeout'] > Literal.arguments${AMOUNT}`,
          // Not in an example of a file that users write.
          `Property[key.name=${LENGTH_OF_TIME}]:not(Property[key.name='examples'] Property) > Literal.value${AMOUNT}`,
          `Property[key.name=${LENGTH_OF_TIME}] > BinaryExpression.value > Literal.left${AMOUNT}`,
          `VariableDeclarator[id.name=${LENGTH_OF_TIME}] > Literal.init${AMOUNT}`,
          `AssignmentPattern[left.name=${LENGTH_OF_TIME}] > Literal.right${AMOUNT}`,
        ].map((selector) => ({
          selector,
          message:
            'Give the length of time or the number of attempts an entry in src/domain/timeouts/, with the reason for its value, and read it by its name.',
        })),
      ],
    },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['node:*', '@temporalio/client', '@temporalio/worker', '@temporalio/activity'],
              message: 'Workflow code is deterministic: no Node, no clients.',
            },
          ],
        },
      ],
    },
  },
);
