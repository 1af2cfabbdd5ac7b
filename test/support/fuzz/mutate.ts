import { pick, type Random } from '../random/seed.ts';
import { at, type Place, placesIn, put, type Tree, textOf, treeOf } from './json-tree.ts';

/** Scalars, as JSON texts, that other code has stumbled over. */
const HOSTILE: readonly [string, ...string[]] = [
  'null',
  'true',
  'false',
  '""',
  '"x"',
  '" "',
  '0',
  '-0',
  '-1',
  '0.1',
  '1e308',
  '-1e308',
  '1e400',
  '-1e999',
  '9007199254740991',
  '9007199254740992',
  '-9007199254740993',
  '123456789012345678901234567890',
  '4503599627370497.5',
  '1E-400',
  '5e-324',
  '"12"',
  '"1e400"',
  '"NaN"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00x"',
  '"\\ud83d\\ude00"',
  '"\\u202e\\u0007\\u001b[31m"',
  '"\\ufeff"',
  '"__proto__"',
  '"constructor"',
  '"\'; DROP TABLE user_daily; --"',
  '"=cmd()"',
  '"\u0130\u0053\u00df"',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"":null}',
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"a":1e400,"b":9007199254740993}',
  '{"toString":1,"valueOf":2,"hasOwnProperty":3}',
  '"2026-01-15"',
  '"2026-02-30"',
  '253402300800000',
];

const NAMES: readonly [string, ...string[]] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  ' ',
  'date',
  'Date',
  'user_id',
  'model',
  'group_key',
  'extra',
  'data',
  'meta',
  '\ud800',
  'a\0b',
  '\u2028',
  'new.field',
  'x["y"]',
  '\u{1F600}',
];

type Mutation = (tree: Tree, place: Place, random: Random) => Tree;

const integer = (random: Random, max: number) => Math.floor(random() * max);

/** Mutations of the structure. Each changes the tree, or returns another one. */
const STRUCTURE: readonly [Mutation, ...Mutation[]] = [
  (tree, place, random) => set(tree, place, { text: pick(random, HOSTILE) }),
  (tree, place, random) => set(tree, place, { text: pick(random, HOSTILE) }),
  (tree, place, random) => set(tree, place, { text: pick(random, HOSTILE) }),
  (tree, { holder, index }) => {
    if ('items' in holder) holder.items.splice(index, 1);
    else holder.members.splice(index, 1);
    return tree;
  },
  // An element twice; a name twice, with the same value or another.
  (tree, place, random) => {
    const { holder, index } = place;
    const twin: Tree = random() < 0.5 ? structuredClone(at(place)) : { text: pick(random, HOSTILE) };
    if ('items' in holder) holder.items.splice(index, 0, twin);
    else holder.members.splice(index + integer(random, 2), 0, [holder.members[index]?.[0] ?? '', twin]);
    return tree;
  },
  (tree, { holder, index }, random) => {
    if ('items' in holder) return { items: [tree] };
    const member = holder.members[index];
    if (member !== undefined) member[0] = pick(random, NAMES);
    return tree;
  },
  (tree, { holder }, random) => {
    if ('items' in holder) holder.items.reverse();
    else
      holder.members.splice(integer(random, holder.members.length + 1), 0, [
        pick(random, NAMES),
        { text: pick(random, HOSTILE) },
      ]);
    return tree;
  },
  // The value of one place at another.
  (tree, place, random) => {
    const places = placesIn(tree);
    const other = places[integer(random, places.length)];
    return other === undefined ? tree : set(tree, place, structuredClone(at(other)));
  },
  (tree, place, random) =>
    set(
      tree,
      place,
      random() < 0.5 ? { items: [at(place)] } : { members: [[pick(random, NAMES), at(place)]] },
    ),
  // Numbers as texts, and the other way round.
  (tree, place) => {
    const { text } = { text: '', ...at(place) };
    return set(tree, place, { text: text.startsWith('"') ? '7' : JSON.stringify(text) });
  },
];

/** Mutations that cost time wherever they are: rare. */
const HUGE: readonly [Mutation, ...Mutation[]] = [
  (tree, place, random) => set(tree, place, { text: nested(random, integer(random, 12_000), '[', ']') }),
  (tree, place, random) => set(tree, place, { text: nested(random, integer(random, 12_000), '{"a":', '}') }),
  (tree, place, random) => set(tree, place, { text: `"${'x'.repeat(integer(random, 200_000))}"` }),
  (tree, place, random) => {
    const one = textOf(at(place));
    const count = Math.min(3_000, Math.floor(300_000 / (one.length + 1)));
    return set(tree, place, {
      text: `[${Array.from({ length: integer(random, count) }, () => one).join(',')}]`,
    });
  },
  (tree, place, random) => {
    const members = Array.from({ length: integer(random, 3_000) }, (_, n) => `"k${n}":${n}`);
    return set(tree, place, { text: `{${members.join(',')}}` });
  },
];

function nested(random: Random, depth: number, open: string, close: string): string {
  return open.repeat(depth) + pick(random, HOSTILE) + close.repeat(depth);
}

function set(tree: Tree, place: Place, value: Tree): Tree {
  put(place, value);
  return tree;
}

function mutateTree(text: string, random: Random): string {
  let tree = treeOf(JSON.parse(text));
  for (let left = 1 + integer(random, 3); left > 0; left -= 1) {
    const places = placesIn(tree);
    const place = places[integer(random, places.length)];
    if (place === undefined) break;
    tree = pick(random, random() < 0.02 ? HUGE : STRUCTURE)(tree, place, random);
  }
  return textOf(tree);
}

const splice = (bytes: Buffer, at: number, drop: number, insert: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + drop)]);

/** What can happen to bytes on their way. */
const BYTES: readonly [
  (bytes: Buffer, random: Random) => Buffer,
  ...((bytes: Buffer, random: Random) => Buffer)[],
] = [
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    const at = integer(random, copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << integer(random, 8));
    return copy;
  },
  (bytes, random) => splice(bytes, integer(random, bytes.length), 1, Buffer.of(integer(random, 256))),
  (bytes, random) => splice(bytes, integer(random, bytes.length), 1, Buffer.of(0x20 + integer(random, 0x5f))),
  (bytes, random) => splice(bytes, integer(random, bytes.length), integer(random, 20), Buffer.alloc(0)),
  (bytes, random) => bytes.subarray(0, integer(random, bytes.length)),
  (bytes, random) => {
    const from = integer(random, bytes.length);
    const piece = bytes.subarray(from, from + integer(random, 60));
    return splice(bytes, integer(random, bytes.length), 0, piece);
  },
  (bytes) => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes]),
  (bytes, random) => splice(bytes, integer(random, bytes.length), 0, Buffer.of(0xc3, 0x28)),
  (bytes, random) => splice(bytes, integer(random, bytes.length), 0, Buffer.of(0xed, 0xa0, 0x80)),
  (bytes) => Buffer.concat([bytes, bytes]),
  (bytes, random) => splice(bytes, integer(random, bytes.length), 0, Buffer.from('\\ud800')),
];

/** A JSON body as a hostile or broken service might send it; now and then one that differs in nothing that matters. */
export function mutate(body: Buffer, random: Random): Buffer {
  if (random() < 0.3) {
    let bytes = body;
    for (let left = 1 + integer(random, 2); left > 0; left -= 1) bytes = pick(random, BYTES)(bytes, random);
    return bytes;
  }
  return Buffer.from(mutateTree(body.toString('utf8'), random));
}
