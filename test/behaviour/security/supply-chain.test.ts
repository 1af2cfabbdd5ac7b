import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const jsonOf = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Locked {
  readonly version: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const packages: Readonly<Record<string, Locked>> = jsonOf('package-lock.json').packages;
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const locked = Object.entries(packages).flatMap(([path, entry]) =>
  path === '' ? [] : [{ name: nameOf(path), ...entry }],
);

/** Where Node finds a package from another: beside it, or beside a folder above it. */
function resolved(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '' || !folder.includes('node_modules/')) return undefined;
    if (!folder.includes('/node_modules/')) return packages[`node_modules/${name}`] && `node_modules/${name}`;
  }
}

/** Everything that the program needs to run, found by walking from its own dependencies. */
function production(): (Locked & { readonly name: string })[] {
  const found = new Map<string, Locked & { readonly name: string }>();
  const left = [''];
  for (let from = left.pop(); from !== undefined; from = left.pop()) {
    const entry = packages[from];
    for (const name of Object.keys({ ...entry?.dependencies, ...entry?.optionalDependencies })) {
      const path = resolved(from, name);
      const other = path === undefined ? undefined : packages[path];
      if (path === undefined || other === undefined || found.has(path)) continue;
      found.set(path, { name, ...other });
      left.push(path);
    }
  }
  return [...found.values()];
}

const licenses = readFileSync(join(ROOT, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
const packageOf = (specifier: string) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;

/** The scripts of the last build. Chunks of earlier builds may lie beside them. */
function builtFiles(): string[] {
  const { files }: { files: string[] } = jsonOf('dist/.build.json');
  return files.filter((path) => path.endsWith('.js')).map((path) => join(ROOT, 'dist', path));
}

function importedBy(files: readonly string[]): string[] {
  const statement = /^(?:import|export) (?:.* from )?"([^".][^"]*)"|\bimport\("([^".][^"]*)"\)/gm;
  return files
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(statement)])
    .map(([, imported, loaded]) => imported ?? loaded ?? '')
    .filter((specifier) => !isBuiltin(specifier))
    .map(packageOf);
}

/** Packages whose types the declarations of the library and of the emulator use, directly or through other declarations. */
function namedByTypes(): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const left = ['dist/src/index.d.ts', 'dist/src/emulator/index.d.ts'].map((path) => join(ROOT, path));
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (seen.has(path) || !existsSync(path)) continue;
    seen.add(path);
    const code = readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
    for (const [, specifier = ''] of code.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)) {
      if (specifier.startsWith('.')) left.push(join(dirname(path), specifier.replace(/\.(ts|js)$/, '.d.ts')));
      else if (!isBuiltin(specifier)) found.add(packageOf(specifier));
    }
  }
  return [...found];
}

describe('the dependencies', () => {
  test('run no install script', () => {
    const scripted = production().filter(({ hasInstallScript }) => hasInstallScript === true);
    expect(scripted.map(({ name }) => name)).toEqual([]);
  });

  test('are listed with a decision for each install script, also for tools', () => {
    const allowed = jsonOf('package.json').allowScripts;
    const scripted = new Set(
      locked.filter((entry) => entry.hasInstallScript === true).map(({ name }) => name),
    );
    // npm would compile better-sqlite3 although it has no script.
    expect(new Set(Object.keys(allowed))).toEqual(scripted.add('better-sqlite3'));
    expect(Object.keys(allowed).filter((name) => allowed[name] === true)).toEqual(['node']);
  });

  test('have a reason in docs/decisions.md, also the tools', () => {
    const [, reasons = ''] = readFileSync(join(ROOT, 'docs/decisions.md'), 'utf8').split('## Dependencies');
    const { dependencies, devDependencies } = jsonOf('package.json');
    const names = Object.keys({ ...dependencies, ...devDependencies });
    expect(names.filter((name) => !reasons.includes(name))).toEqual([]);
  });

  test('are what the program imports, what its types name, and five that are always listed', () => {
    // These are bundled, and stay listed because the program is built on them.
    const listed = ['@date-fns/utc', 'date-fns', 'drizzle-orm', 'p-limit', 'p-retry'];
    const needed = new Set([...listed, ...importedBy(builtFiles()), ...namedByTypes()]);
    expect(Object.keys(jsonOf('package.json').dependencies).toSorted()).toEqual([...needed].toSorted());
  });

  test('and everything that is bundled are in the bill of materials, with no other package', {
    tags: 'ci/upkeep',
  }, () => {
    const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { bomFormat, components } = JSON.parse(text);
    expect(bomFormat).toBe('CycloneDX');
    const named: string[] = components.map(
      ({ group, name, version }: { group?: string; name: string; version: string }) =>
        `${group === undefined ? '' : `${group}/`}${name}@${version}`,
    );
    const bundled = [...licenses.matchAll(/(?:^|-{80}\n\n)(\S+) (\S+) \(/g)].map(
      ([, name, at]) => `${name}@${at}`,
    );
    // Only to compile the driver, and to reach PostgreSQL from Cloudflare. The image has neither.
    const unused = ['node-addon-api', 'pg-cloudflare'];
    const installed = production().filter(({ name }) => !unused.includes(name));
    const expected = [...bundled, ...installed.map(({ name, version }) => `${name}@${version}`)];
    expect(bundled.length).toBeGreaterThan(15);
    expect(named.toSorted()).toEqual([...new Set(expected)].toSorted());
  });
});
