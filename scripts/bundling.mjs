// How code and types become few files, in the program and in the package of the client.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** CommonJS libraries load Node's own modules with `require`. */
const REQUIRE =
  "import { createRequire as daywalkRequire } from 'node:module'; const require = daywalkRequire(import.meta.url);";

/** Options of esbuild. */
export const BUNDLE = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  // Some CommonJS packages find their parts at run time.
  mainFields: ['module', 'main'],
  target: 'node22.19',
  banner: { js: REQUIRE },
  // A bundle of somebody else has no package.json of ours beside it.
  define: { DAYWALK_VERSION: JSON.stringify(manifest.version) },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

/**
 * Imports each name from the file behind the door of a room. esbuild counts whatever a door passes on as needed by everybody who
 * takes one name, and would load whole rooms at the start.
 */
export function behindDoors() {
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
export function withoutIdleRequire(path) {
  const text = readFileSync(path, 'utf8');
  const rest = text.replace(`${REQUIRE}\n`, '');
  if (/(?<![\w$.])require(?![\w$])/.test(rest)) return;
  writeFileSync(path, rest);
}

/** Licenses of the bundled packages. */
export function licensesOf(inputs) {
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
