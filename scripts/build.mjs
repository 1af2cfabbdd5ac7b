// Compiles the sources to dist/ and puts the migrations beside the compiled schema, where the program looks for them.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

rmSync(`${root}/dist`, { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
cpSync(`${root}/schema/migrations`, `${root}/dist/schema/migrations`, { recursive: true });
chmodSync(`${root}/dist/src/cli/main.js`, 0o755);
