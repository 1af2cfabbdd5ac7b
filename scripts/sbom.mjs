// Prints the runtime dependencies as a CycloneDX document. npm's --omit=dev also omits packages that a development tool
// uses too (such as pg-types), so this lists everything and removes development tools by the lock file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const used = new Set(
  Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);
const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const document = JSON.parse(text);
const own = document.metadata.component['bom-ref'];
const isUsed = (reference) => reference === own || used.has(reference);
document.components = document.components.filter((component) => isUsed(component['bom-ref']));
document.dependencies = document.dependencies
  .filter(({ ref }) => isUsed(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isUsed) }));
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
