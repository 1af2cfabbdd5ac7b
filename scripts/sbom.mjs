// Prints the packages that dist/ consists of and loads as a CycloneDX document: those of the image, and of an installation.
// Most are bundled, and so development dependencies, which npm's --omit=dev would omit.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { shippedPackages } from './shipped-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const shipped = shippedPackages();
const text = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const document = JSON.parse(text);
const own = document.metadata.component['bom-ref'];
const isShipped = (reference) => reference === own || shipped.has(reference);
document.components = document.components.filter((component) => isShipped(component['bom-ref']));
document.dependencies = document.dependencies
  .filter(({ ref }) => isShipped(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isShipped) }));
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
