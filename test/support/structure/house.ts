import { dirname } from 'node:path';
import { importsOf, readSources, resolvePath, type Source, withoutComments } from './sources.ts';

/** The file of a room that others may import. */
const DOOR = /\/index\.ts$/;
/** Above this length a file is asked for the number of its topics. */
const LONG_LINES = 200;
/** A file with more groups of declarations that do not refer to each other holds more than one topic. */
const GROUPS_MAX = 2;
/** Below this length a file belongs into its only importer beside it. */
const DUST_LINES = 60;

/** One file of the program, as its readers meet it. */
export interface HouseFile {
  readonly path: string;
  readonly lines: number;
  /** Lines without blanks, comments, imports and re-exports. */
  readonly codeLines: number;
  /** The files that import it, counted through doors: a re-export is no importer. */
  readonly importers: readonly string[];
}

/** The shape of the program: how many files there are, and how far a reader has to go. */
export interface House {
  readonly files: readonly HouseFile[];
  readonly meanLines: number;
  readonly codeLines: number;
  /** Files with exactly one importer. */
  readonly single: readonly HouseFile[];
  /** Their share of all files but the doors, which have none, in percent. */
  readonly singlePercent: number;
  /** Short files whose only importer stands in the same folder. */
  readonly dust: readonly HouseFile[];
  /** The longest chain of imports, from the first importer to the last imported file. */
  readonly chain: readonly string[];
  /** The names that each door offers, by the door's path. */
  readonly doors: ReadonlyMap<string, readonly string[]>;
  /** Long files whose declarations fall into several groups, with one name of each group. */
  readonly mixed: readonly { readonly path: string; readonly groups: readonly string[] }[];
}

/** Reads the program and measures its shape. */
export function measureHouse(sources: readonly Source[] = readSources()): House {
  const doors = new Map(
    sources.filter(({ path }) => DOOR.test(path)).map((door) => [door.path, offers(door)]),
  );
  const edges = new Map(sources.map(({ path }) => [path, new Set<string>()]));
  // A program or thread that is started by its path is no import: its reader starts anew there.
  const imports = sources.flatMap((source) => importsOf(source)).filter(({ isStart }) => !isStart);
  for (const { from, to, names } of imports) {
    for (const end of ends(doors, to, names)) if (end !== from && edges.has(end)) edges.get(from)?.add(end);
  }
  for (const door of doors.keys()) edges.set(door, new Set());
  const importers = Map.groupBy(
    [...edges].flatMap(([from, list]) => [...list].map((to) => ({ from, to }))),
    ({ to }) => to,
  );
  const files = sources.map(({ path, text }) => ({
    path,
    lines: text.trimEnd().split('\n').length,
    codeLines: codeOf(text).length,
    importers: (importers.get(path) ?? []).map(({ from }) => from),
  }));
  const single = files.filter((file) => file.importers.length === 1);
  return {
    files,
    meanLines: files.reduce((sum, { lines }) => sum + lines, 0) / files.length,
    codeLines: files.reduce((sum, file) => sum + file.codeLines, 0),
    single,
    singlePercent: (100 * single.length) / (files.length - doors.size),
    dust: single.filter(
      ({ path, lines, importers: [by = ''] }) => lines < DUST_LINES && dirname(by) === dirname(path),
    ),
    chain: longestChain(edges),
    doors: new Map([...doors].map(([path, names]) => [path, [...names.keys()]])),
    mixed: sources
      .filter(({ text }) => text.trimEnd().split('\n').length > LONG_LINES)
      .map((source) => ({ path: source.path, groups: groupsOf(source) }))
      .filter(({ groups }) => groups.length > GROUPS_MAX),
  };
}

/** A name, and the file that has it: the one that declares it, or another door. */
interface Offer {
  readonly file: string;
  readonly name: string;
}

/** The files that stand behind the names of an import: one, or those behind a door. */
function ends(
  doors: ReadonlyMap<string, ReadonlyMap<string, Offer>>,
  to: string,
  names: readonly string[],
): readonly string[] {
  const offered = doors.get(to);
  if (offered === undefined) return [to];
  const taken = names.length === 0 ? [...offered.keys()] : names;
  return taken.flatMap((name) => {
    const offer = offered.get(name);
    return offer === undefined || offer.file === to ? [] : ends(doors, offer.file, [offer.name]);
  });
}

/** The names that a door offers, each with its place. */
function offers({ path, text }: Source): Map<string, Offer> {
  const statements = withoutComments(text).matchAll(
    /^export\s+(?:type\s+)?\{([^}]*)\}\s*from\s+'(\.[^']+)';/gm,
  );
  const reexported = Array.from(statements).flatMap(([, names = '', from = '']) =>
    pairsIn(names).map(([name, as]) => [as, { file: resolvePath(path, from), name }] as const),
  );
  const own = withoutComments(text)
    .split(/^(?=export )/m)
    .flatMap((part) => {
      const [, name] = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/.exec(part) ?? [];
      if (name === undefined) return [];
      // A function of a door that loads another file late passes on what that file declares.
      const [, late, lateName = name] = /\(await import\('(\.[^']+)'\)\)\s*\.(\w+)/.exec(part) ?? [];
      const place =
        late === undefined ? { file: path, name } : { file: resolvePath(path, late), name: lateName };
      return [[name, place] as const];
    });
  return new Map([...reexported, ...own]);
}

/** The names in braces, as the other file and as the importers of this one know them: `type A, b as c` gives A, A and b, c. */
function pairsIn(braces: string): (readonly [name: string, as: string])[] {
  return braces
    .split(',')
    .map((part) => part.trim().replace(/^type /, ''))
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', as = name] = part.split(' as ');
      return [name, as];
    });
}

function longestChain(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const known = new Map<string, string[]>();
  const from = (path: string): string[] => {
    const found = known.get(path);
    if (found !== undefined) return found;
    // There are no cycles: another test checks. Without this line one would never end.
    known.set(path, []);
    const longest = [...(edges.get(path) ?? [])]
      .map(from)
      .reduce((a, b) => (b.length > a.length ? b : a), []);
    known.set(path, [path, ...longest]);
    return [path, ...longest];
  };
  return [...edges.keys()].map(from).reduce((a, b) => (b.length > a.length ? b : a), []);
}

/** The lines that hold code of their own. */
function codeOf(text: string): string[] {
  return withoutComments(text)
    .replace(
      /^(?:import\s[^;]*?\sfrom\s+'[^']+'[^;]*|import\s+'[^']+'|export\s+(?:type\s+)?(?:\{[^}]*\}|\*)\s*from\s+'[^']+');$/gm,
      '',
    )
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** One name of each group of top-level declarations that refer to each other. Constants and types that several groups use join none. */
function groupsOf({ text }: Source): string[] {
  const code = withoutComments(text);
  const starts = Array.from(
    code.matchAll(
      /^(?:export )?(?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
    ),
  );
  const parts = starts.map((match, index) => ({
    name: match[1] ?? '',
    body: code.slice(match.index, starts[index + 1]?.index ?? code.length),
  }));
  const groups = new Map(parts.map(({ name }) => [name, name]));
  const rootOf = (name: string): string => {
    const next = groups.get(name) ?? name;
    return next === name ? name : rootOf(next);
  };
  for (const { name, body } of parts) {
    const words = new Set(body.match(/\w+/g));
    for (const other of groups.keys())
      if (other !== name && words.has(other)) groups.set(rootOf(name), rootOf(other));
  }
  return [...new Set(parts.map(({ name }) => rootOf(name)))];
}
