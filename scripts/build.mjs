// Builds dist/: type declarations, the program as a few bundled files, and the migrations.
//
// Node needs about half a millisecond to find and load a file, and the libraries have a thousand files. Without bundles, a
// short run spends half of its time loading them. Native and rarely used packages are not bundled.
//
// `npx daywalk` in a clone runs this before every start. It builds only if an input has changed, and programs that run
// from dist/ meanwhile always find their files: see build-place.mjs.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inputsHash, isBuiltFrom, putInPlace, withBuildLock } from './build-place.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** CommonJS libraries load Node's own modules with `require`. */
const REQUIRE =
  "import { createRequire as daywalkRequire } from 'node:module'; const require = daywalkRequire(import.meta.url);";

/** The receiver of hook events. The agent waits for it, so it is built alone: it loads three files instead of twenty. */
const RECEIVER = 'src/cli/process/receive-hook.ts';
/** What is loaded before any command. */
const AT_START = ['src/cli/program/run-cli.ts', 'src/cli/commands.ts'];

if (!isBuiltFrom(root, inputsHash(root))) {
  await withBuildLock(root, async (part) => {
    // Another build may have finished while this one waited.
    const inputs = inputsHash(root);
    if (isBuiltFrom(root, inputs)) return;
    declare(part);
    await bundle(part);
    // A snapshot only helps to generate the next migration.
    const filter = (path) => !path.endsWith('_snapshot.json');
    cpSync(join(root, 'schema/migrations'), join(part, 'schema/migrations'), { recursive: true, filter });
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
  throw new Error('the declarations could not be generated; dist/ is unchanged');
}

async function bundle(part) {
  const { build } = await import('esbuild');
  const options = {
    absWorkingDir: root,
    outdir: part,
    outbase: '.',
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    // Some CommonJS packages find their parts at run time.
    mainFields: ['module', 'main'],
    target: 'node22.19',
    external: ['better-sqlite3', 'pg', 'pg-copy-streams'],
    banner: { js: REQUIRE },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  };
  const receiver = await build({
    ...options,
    entryPoints: [RECEIVER],
    entryNames: options.chunkNames,
    plugins: [lateParts([RECEIVER]), behindDoors()],
  });
  const receiverFile = Object.keys(receiver.metafile.outputs).find((path) =>
    /receive-hook-\w+\.js$/.test(path),
  );
  const builds = [
    receiver,
    await build({
      ...options,
      // All files that are started or imported by path; shared code goes into chunks.
      entryPoints: [
        'src/index.ts',
        'src/emulator/index.ts',
        'src/cli/main.ts',
        'src/warehouse/sqlite/writer-entry.ts',
      ],
      plugins: [
        lateParts(AT_START, relative(join(part, 'src/cli'), join(root, receiverFile))),
        behindDoors(),
      ],
    }),
    await build({
      ...options,
      entryPoints: ['src/hooks/messenger.ts', 'src/hooks/receive.ts'],
      plugins: [behindDoors()],
    }),
  ];
  const filesOf = (side) => builds.flatMap(({ metafile }) => Object.keys(metafile[side]));
  for (const path of filesOf('outputs')) withoutIdleRequire(join(root, path));
  writeFileSync(join(part, 'THIRD-PARTY-LICENSES.txt'), licensesOf(filesOf('inputs')));
}

/**
 * Decides what happens to parts that are loaded late. esbuild puts code into one file if the same entry points need it, and
 * each of these parts is an entry point. So each imports what is loaded before it: a few files instead of forty.
 */
function lateParts(loadedBefore, receiver) {
  return {
    name: 'late-parts',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, kind, importer, resolveDir }) => {
        if (kind !== 'dynamic-import') return;
        if (join(resolveDir, path) === join(root, RECEIVER)) return { path: receiver, external: true };
        if (importer !== join(root, 'src/cli/main.ts'))
          return { path: relative(root, join(resolveDir, path)), namespace: 'late' };
      });
      onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
        contents: [...loadedBefore.map((file) => `import './${file}';`), `export * from './${path}';`].join(
          '\n',
        ),
        resolveDir: root,
      }));
    },
  };
}

/**
 * Imports each name from the file behind the door of a room. esbuild counts whatever a door passes on as needed by everybody who
 * takes one name, and would load whole rooms at the start.
 */
function behindDoors() {
  const known = new Map();
  const behind = (door) => {
    if (!known.has(door)) known.set(door, namesBehind(door));
    return known.get(door);
  };
  return {
    name: 'behind-doors',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
        if (path.includes('node_modules')) return;
        const contents = readFileSync(path, 'utf8').replace(
          /^import \{([^}]*)\} from '(\.[^']*\/index\.ts)';$/gm,
          (_, names, door) => {
            const files = behind(join(dirname(path), door));
            const parts = names.split(',').map((part) => part.trim());
            return parts
              .filter((part) => part !== '' && !part.startsWith('type '))
              .map((part) => `import { ${part} } from '${files.get(part.split(' as ')[0]) ?? door}';`)
              .join('');
          },
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** The names that a door passes on, each with its file. What the door declares itself is none of them. */
function namesBehind(door) {
  const statements = readFileSync(door, 'utf8').matchAll(/^export \{([^}]*)\} from '(\.[^']+)';$/gm);
  return new Map(
    [...statements].flatMap(([, names, file]) =>
      names.split(',').map((name) => [name.trim(), join(dirname(door), file)]),
    ),
  );
}

/** Removes an unused `require` from a file, because creating it takes longer than loading a small file. */
function withoutIdleRequire(path) {
  const text = readFileSync(path, 'utf8');
  const rest = text.replace(`${REQUIRE}\n`, '');
  if (/(?<![\w$.])require(?![\w$])/.test(rest)) return;
  writeFileSync(path, rest);
}

/** Licenses of the bundled packages. */
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
