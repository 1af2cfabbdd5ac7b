// Makes dist/: the declarations by the compiler, the program as few bundled files, and the migrations beside it.
//
// Bundled, because Node takes about half a millisecond to find and load a file, and the libraries have a thousand of
// them: unbundled, half of the time of a short run went into that. What is native or rarely needed stays outside.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
/** CommonJS libraries ask for Node's own modules by `require`. */
const REQUIRE =
  "import { createRequire as daywalkRequire } from 'node:module'; const require = daywalkRequire(import.meta.url);";

rmSync(dist, { recursive: true, force: true });
declare();
await bundle();
cpSync(join(root, 'schema/migrations'), join(dist, 'schema/migrations'), { recursive: true });
chmodSync(join(dist, 'src/cli/main.js'), 0o755);

function declare() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

async function bundle() {
  const { metafile } = await build({
    absWorkingDir: root,
    // Everything that is started or imported by its path; what they share goes into chunks.
    entryPoints: [
      'src/index.ts',
      'src/emulator/index.ts',
      'src/cli/main.ts',
      'src/hooks/notify/messenger.ts',
      'src/hooks/receive/receive.ts',
      'src/warehouse/sqlite/writer/entry.ts',
      'jobs/publish-thread.ts',
    ],
    outdir: dist,
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    // Some CommonJS forms look for their parts at run time.
    mainFields: ['module', 'main'],
    target: 'node20.19',
    external: ['better-sqlite3', 'pg', 'pg-copy-streams'],
    banner: { js: REQUIRE },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  for (const path of Object.keys(metafile.outputs)) withoutIdleRequire(join(root, path));
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)));
}

/** Takes `require` out of a file that does not use it: to make it takes longer than to load a small file. */
function withoutIdleRequire(path) {
  const text = readFileSync(path, 'utf8');
  const rest = text.replace(`${REQUIRE}\n`, '');
  if (/(?<![\w$.])require(?![\w$])/.test(rest)) return;
  writeFileSync(path, rest);
}

/** The licenses of the packages whose files are among the inputs. */
function licensesOf(inputs) {
  const folders = inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
      const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? '' : `\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
      return `${name} ${version} (${license})\n${text}`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}
