// Makes dist/: the declarations by the compiler, the program as few bundled files, and the migrations beside it.
//
// Bundled, because Node takes about half a millisecond to find and load a file, and the libraries have a thousand of
// them: unbundled, half of the time of a short run went into that. What is native or rarely needed stays outside.
//
// `npx daywalk` in a clone builds each time before it starts. So nothing is built where no input has changed, and a
// program that runs from dist/ meanwhile always finds its files: see build-place.mjs.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inputsHash, isBuiltFrom, putInPlace, withBuildLock } from './build-place.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** CommonJS libraries ask for Node's own modules by `require`. */
const REQUIRE =
  "import { createRequire as daywalkRequire } from 'node:module'; const require = daywalkRequire(import.meta.url);";

if (!isBuiltFrom(root, inputsHash(root))) {
  await withBuildLock(root, async (part) => {
    // Another build may have done it while this one waited.
    const inputs = inputsHash(root);
    if (isBuiltFrom(root, inputs)) return;
    declare(part);
    await bundle(part);
    cpSync(join(root, 'schema/migrations'), join(part, 'schema/migrations'), { recursive: true });
    chmodSync(join(part, 'src/cli/main.js'), 0o755);
    putInPlace(root, part, inputs);
  });
}

function declare(part) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', part], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status === 0) return;
  process.exitCode = status ?? 1;
  throw new Error('the declarations could not be made; dist/ is as it was');
}

async function bundle(part) {
  const { build } = await import('esbuild');
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
    ],
    outdir: part,
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
  writeFileSync(join(part, 'THIRD-PARTY-LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)));
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
