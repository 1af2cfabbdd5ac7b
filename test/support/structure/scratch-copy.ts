import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '../suite/temp-dir.ts';
import { ROOT } from './sources.ts';

/** A change by hand: a new file, or lines before the first match of an existing one. */
export interface Edit {
  readonly file: string;
  /** Absent for a new file. */
  readonly before?: RegExp;
  readonly add: string;
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of the repository that may be changed, compiled and run. */
export interface ScratchCopy {
  readonly folder: string;
  edit(edits: Edit | readonly Edit[]): void;
  read(file: string): string;
  /** The errors of the compiler; empty if there is none. */
  compile(): string[];
  /** Runs a script of the copy. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Ended;
  /** Runs `daywalk` from its sources. */
  daywalk(args: readonly string[], env?: Readonly<Record<string, string>>): Ended;
}

const COPIED = [
  'test/support/structure',
  'src',
  'schema',
  'jobs',
  'scripts',
  'bench',
  'docs',
  '.env.example',
  'package.json',
];

/** Copies what the program and its generated documentation are made from. */
export function scratchCopy(): ScratchCopy {
  const folder = tempDir();
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const config = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
  const include = ['src', 'schema', 'jobs', 'scripts/*-table.ts'];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include }));
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const run: ScratchCopy['run'] = (args, env = {}) => {
    // The variables by which a campaign is asked for are no settings of the program.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('DAYWALK_'));
    const own = { ...Object.fromEntries(inherited), ...env };
    const options = { cwd: folder, encoding: 'utf8', env: own } as const;
    const { status: code, stdout, stderr } = spawnSync(process.execPath, args, options);
    return { code, stdout, stderr };
  };
  return {
    folder,
    read,
    run,
    edit: (edits) => {
      for (const { file, before, add } of [edits].flat()) {
        const text = before === undefined ? '' : read(file);
        const place = before === undefined ? 0 : text.search(before);
        if (place === -1) throw new Error(`${file} has no ${before}`);
        writeFileSync(join(folder, file), `${text.slice(0, place)}${add}\n${text.slice(place)}`);
      }
    },
    compile: () => {
      const options = ['--noEmit', '--incremental', '--tsBuildInfoFile', 'compiled'];
      const { stdout } = run(['node_modules/typescript/bin/tsc', ...options]);
      // Further lines of an error are indented.
      return stdout.split(/\n(?=\S)/).filter((error) => error.trim() !== '');
    },
    daywalk: (args, env) => run(['src/cli/main.ts', ...args], env),
  };
}

/** The places that CONTRIBUTING.md names for a change, before the commands that follow it. */
export function placesFor(change: string): string[] {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const [, answer = ''] = new RegExp(`^\\| ${change} \\|(.*)\\|$`, 'm').exec(page) ?? [];
  const [byHand = ''] = answer.split('then `npm run');
  return [...byHand.matchAll(/`((?:src|schema|jobs|scripts)\/[^`]*)`/g)].map(([, place = '']) => place);
}

/** The places of a change that edits were made in, in the order of the edits. A place may be a folder. */
export function placesOf(edits: readonly Edit[], places: readonly string[]): (string | undefined)[] {
  return [...new Set(edits.map(({ file }) => places.find((place) => file.startsWith(place))))];
}
