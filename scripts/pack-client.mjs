// Packs the client alone as out/daywalk-client-<version>.tgz. It has the code and the types of src/index.ts, bundled, and
// depends on no other package. Run it after a build: npm run pack:client.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { BUNDLE, behindDoors, licensesOf, manifest, root, withoutIdleRequire } from './bundling.mjs';

const out = join(root, 'out');
const folder = join(out, 'client');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  ...BUNDLE,
  outdir: folder,
  entryPoints: { index: 'src/index.ts' },
  plugins: [behindDoors()],
});
for (const path of Object.keys(metafile.outputs)) withoutIdleRequire(join(root, path));
cpSync(join(root, 'dist/src/index.d.ts'), join(folder, 'index.d.ts'));
cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licensesOf(Object.keys(metafile.inputs)));
writeFileSync(join(folder, 'README.md'), readme());
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(clientManifest(), null, 2)}\n`);
const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', out], {
  cwd: folder,
  encoding: 'utf8',
});
process.stdout.write(`${relative(process.cwd(), join(out, packed.trim()))}\n`);

function clientManifest() {
  const { version, license, type, engines } = manifest;
  return {
    name: 'daywalk-client',
    version,
    description: "Typed client of an AI agent platform's API: analytics, readiness reports and sessions",
    keywords: ['api', 'client', 'analytics', 'typescript'],
    license,
    type,
    engines,
    sideEffects: false,
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
  };
}

/** The page about the library; other pages are not in the package, so their names stay without a link. */
function readme() {
  const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, '$1');
}
