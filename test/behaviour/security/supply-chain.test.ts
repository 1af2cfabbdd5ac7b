import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

  test('of production, and only those, are in the bill of materials', () => {
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
    expect(named.toSorted()).toEqual(
      [...new Set(production().map(({ name, version }) => `${name}@${version}`))].toSorted(),
    );
  });
});
