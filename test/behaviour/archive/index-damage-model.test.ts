import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { IndexWriter } from '../../../src/archive/index-files.ts';
import type { Line } from '../../../src/archive/lines.ts';
import { type IndexFile, indexFolder, readIndex } from '../../../src/archive/read-index.ts';
import { type Random, SEED, sequence } from '../../support/random/seed.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const WORLDS = 30;
/** Damages that are tried on each file. */
const TRIES = 40;
const APPENDS_MAX = 6;
const LINES_MAX = 3;

test.each([
  ['a flipped byte loses and alters no line', 1],
  ['several damaged stretches alter no line, and a loss is never silent', 4],
])('%s', async (_, stretches) => {
  const seen = { sound: 0, lossy: 0 };
  for (let world = 0; world < WORLDS; world += 1) {
    const random = sequence(SEED + world);
    const { path, archive, lines } = await written(random);
    const bytes = readFileSync(path);
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      writeFileSync(path, damaged(bytes, random, stretches));
      const [file] = await readIndex(archive);
      if (file === undefined) throw new Error('the index has no file');
      expectHonest(file, lines);
      if (stretches === 1) expect(file).toMatchObject({ isLossy: false, lines });
      seen[file.isLossy ? 'lossy' : 'sound'] += 1;
    }
  }
  expect(seen.sound).toBeGreaterThan(0);
  if (stretches > 1) expect(seen.lossy).toBeGreaterThan(0);
});

test('a kill at any byte leaves the lines of every append that was complete, and no others as lost', async () => {
  const random = sequence(SEED);
  const { path, archive, lines, ends } = await written(random);
  const bytes = readFileSync(path);
  for (let end = 0; end <= bytes.length; end += 1) {
    writeFileSync(path, bytes.subarray(0, end));
    const [file] = await readIndex(archive);
    expect(file?.isLossy).toBe(false);
    expect(file?.lines).toEqual(lines.slice(0, file?.lines.length));
    const complete = ends.findLast((one) => one.bytes <= end)?.lines ?? 0;
    expect(file?.lines.length).toBeGreaterThanOrEqual(complete);
  }
});

test('lines of calls that do not wait for each other keep their order, and none is accepted after the end', async () => {
  const archive = tempDir();
  const writer = await IndexWriter.begin(archive, new Date('2026-01-20T03:00:00Z'));
  const lines = Array.from({ length: 50 }, (_, index): Line => {
    return { kind: 'outcome', names: [`run:${index}`], outcome: 'committed' };
  });
  const calls = lines.map((line, index) => writer.append([line], { isDurable: index % 3 === 0 }));
  await Promise.all(calls);
  await writer.close();
  await expect(writer.append(lines)).rejects.toThrow('it is closed');
  const [file] = await readIndex(archive);
  expect(file).toMatchObject({ lines: [{ kind: 'begin' }, ...lines], isLossy: false, unreadable: [] });
});

test('lines that were written once, without a checksum, are read, and a damaged one is lost', async () => {
  const { path, archive, lines } = await written(sequence(SEED));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(path, text);
  expect(await readIndex(archive)).toMatchObject([{ lines, isLossy: false, unreadable: [] }]);
  writeFileSync(path, text.replace('"kind"', '"kinf"'));
  expect(await readIndex(archive)).toMatchObject([{ isLossy: true, unreadable: [1] }]);
});

/** Every line that is read was written; if one is missing, the file says so. A damaged end is like that of a kill. */
function expectHonest({ lines: read, isLossy, isTorn }: IndexFile, lines: readonly Line[]): void {
  const known = new Set(lines.map((line) => JSON.stringify(line)));
  for (const line of read) expect(known).toContain(JSON.stringify(line));
  if (!isLossy && !isTorn) expect(read).toEqual(lines);
}

/** An index file after some appends, and where each ends. */
async function written(random: Random) {
  const archive = tempDir();
  const writer = await IndexWriter.begin(archive, new Date('2026-01-20T03:00:00Z'));
  writer.follow([]);
  const lines: Line[] = [{ kind: 'begin', after: [] }];
  const ends: { bytes: number; lines: number }[] = [];
  let path = '';
  const appends = between(random, 1, APPENDS_MAX);
  for (let append = 0; append < appends; append += 1) {
    const added = Array.from({ length: between(random, 1, LINES_MAX) }, () => anyLine(random));
    await writer.append(added);
    lines.push(...added);
    const [name = ''] = readdirSync(indexFolder(archive)).filter((file) => file.endsWith('.jsonl'));
    path = join(indexFolder(archive), name);
    ends.push({ bytes: readFileSync(path).length, lines: lines.length });
  }
  await writer.close();
  return { path, archive, lines, ends };
}

function anyLine(random: Random): Line {
  const name = `run-${between(random, 1, 99)}:ü${between(random, 1, 99)}`;
  if (random() < 0.3) return { kind: 'pruned', before: '2026-01-20T03:00:00.000Z' };
  if (random() < 0.5) return { kind: 'outcome', names: [name], outcome: 'committed' };
  const answer = { name, org: 'org', run: 'run', at: '2026-01-20T03:00:00.000Z', policy: '' };
  return { kind: 'walk', ...answer, emails: 'keep', cursor: '', seen: ['a'] };
}

/** A copy with other bytes: one byte, or stretches of any length. */
function damaged(bytes: Buffer, random: Random, stretches: number): Buffer {
  const copy = Buffer.from(bytes);
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const start = between(random, 0, copy.length - 1);
    const length = stretches === 1 ? 1 : between(random, 1, 200);
    for (let at = start; at < Math.min(start + length, copy.length); at += 1)
      copy[at] = (copy[at] ?? 0) ^ between(random, 1, 255);
  }
  return copy;
}

function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}
