// Builds dist/: type declarations, the program as a few bundled files, and the migrations.
//
// Node needs about half a millisecond to find and load a file, and the libraries have a thousand files. Without bundles, a
// short run spends half of its time loading them. Native and rarely used packages are not bundled.
//
// `npx daywalk` in a clone runs this before every start. It builds only if an input has changed, and programs that run
// from dist/ meanwhile always find their files: see build-place.mjs.
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inputsHash, isBuiltFrom, putInPlace, withBuildLock } from './build-place.mjs';
import { BUNDLE, behindDoors, licensesOf, root, withoutIdleRequire } from './bundling.mjs';
import { writeDeclarations } from './declarations.mjs';

/** The receiver of hook events. The agent waits for it, so it is built alone: it loads three files instead of twenty. */
const RECEIVER = 'src/cli/process/receive-hook.ts';
/** The entries that other programs import. */
const LIBRARIES = ['src/index', 'src/emulator/index'];
/** What is loaded before any command. */
const AT_START = ['src/cli/program/run-cli.ts', 'src/cli/commands.ts'];

if (!isBuiltFrom(root, inputsHash(root))) {
  await withBuildLock(root, async (part) => {
    // Another build may have finished while this one waited.
    const inputs = inputsHash(root);
    if (isBuiltFrom(root, inputs)) return;
    await bundle(part);
    await writeDeclarations(part, LIBRARIES);
    // A snapshot only helps to generate the next migration.
    const filter = (path) => !path.endsWith('_snapshot.json');
    cpSync(join(root, 'schema/migrations'), join(part, 'schema/migrations'), { recursive: true, filter });
    chmodSync(join(part, 'src/cli/main.js'), 0o755);
    putInPlace(root, part, inputs);
  });
}

async function bundle(part) {
  const { build } = await import('esbuild');
  const options = {
    ...BUNDLE,
    outdir: part,
    outbase: '.',
    chunkNames: 'chunks/[name]-[hash]',
    external: ['better-sqlite3', 'pg', 'pg-copy-streams'],
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
        ...LIBRARIES.map((entry) => `${entry}.ts`),
        'src/cli/main.ts',
        'src/warehouse/sqlite/reader-entry.ts',
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
