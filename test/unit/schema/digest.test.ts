import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyTable } from '../../../schema/define.ts';
import { ContentHash, contentSha256 } from '../../../schema/digest.ts';
import { inKeyOrder, type Values } from '../../../schema/row.ts';
import { contentTables, tables } from '../../../schema/tables.ts';

const TABLE = tables.toolsDailyByTool;

const value = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string(),
);
const rows = fc
  .uniqueArray(fc.tuple(fc.string(), value, value, value), { selector: ([name]) => name, maxLength: 30 })
  .map((list) =>
    inKeyOrder(
      TABLE,
      list.map(([name, ...rest]): Values => ['org_1', '2026-02-01', name, ...rest]),
    ),
  );

function digest(...parts: { table: AnyTable; rows: readonly Values[] }[]): string {
  return contentSha256(parts);
}

describe('the digest of content', () => {
  it('is a SHA-256 in lower-case hexadecimal', () => {
    expect(digest({ table: TABLE, rows: [] })).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has this exact value, because warehouses of earlier releases contain it', () => {
    const stored: Values[] = [
      ['org_1', '2026-02-01', 'Read', 5, 0, null],
      ['org_1', '2026-02-01', 'Ärger\n"', 0.5, 1, '{"a":1}'],
    ];
    const text =
      'tools_daily_by_tool\n' +
      '["org_1","2026-02-01","Read",5,0,null],' +
      '["org_1","2026-02-01","Ärger\\n\\"",0.5,1,"{\\"a\\":1}"],' +
      'tools_daily_by_skill\n';
    const sha256 = createHash('sha256').update(text).digest('hex');
    expect(digest({ table: TABLE, rows: stored }, { table: tables.toolsDailyBySkill, rows: [] })).toBe(
      sha256,
    );
  });

  it('is the same for any chunking', () => {
    fc.assert(
      fc.property(rows, fc.array(fc.nat({ max: 30 })), (list, cuts) => {
        const hash = new ContentHash();
        hash.begin(TABLE);
        let start = 0;
        for (const cut of [...cuts.toSorted((a, b) => a - b), list.length]) {
          if (cut < start) continue;
          hash.add(list.slice(start, cut));
          start = cut;
        }
        expect(hash.hex()).toBe(digest({ table: TABLE, rows: list }));
      }),
    );
  });

  it('is the same for chunks of hundreds of rows', () => {
    const many = Array.from(
      { length: 1203 },
      (_, index): Values => ['o', '2026-02-01', `tool ${String(index).padStart(5, '0')}`, index, 0, null],
    );
    const hash = new ContentHash();
    hash.begin(TABLE);
    for (const row of many) hash.add([row]);
    expect(hash.hex()).toBe(digest({ table: TABLE, rows: many }));
  });

  it('does not depend on the order of rows', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.nat()), (list, random) => {
        const shuffled = list.map((row) => [random.next().value, row] as const).sort(([a], [b]) => a - b);
        const sorted = inKeyOrder(
          TABLE,
          shuffled.map(([, row]) => row),
        );
        expect(digest({ table: TABLE, rows: sorted })).toBe(digest({ table: TABLE, rows: list }));
      }),
    );
  });

  it('differs after any change of one value', () => {
    fc.assert(
      fc.property(rows, fc.nat(), fc.nat(), value, (list, at, column, other) => {
        fc.pre(list.length > 0);
        const index = at % list.length;
        const before = list[index] ?? [];
        const position = 2 + (column % 4);
        fc.pre(JSON.stringify(before[position]) !== JSON.stringify(other));
        const after = list.with(index, before.with(position, other));
        expect(digest({ table: TABLE, rows: after })).not.toBe(digest({ table: TABLE, rows: list }));
      }),
    );
  });

  it('differs after a row was removed, added, or moved to another table', () => {
    fc.assert(
      fc.property(rows, (list) => {
        fc.pre(list.length > 0);
        const whole = digest({ table: TABLE, rows: list }, { table: tables.toolsDailyBySkill, rows: [] });
        const others = [
          digest({ table: TABLE, rows: list.slice(1) }, { table: tables.toolsDailyBySkill, rows: [] }),
          digest(
            { table: TABLE, rows: list.slice(1) },
            { table: tables.toolsDailyBySkill, rows: list.slice(0, 1) },
          ),
          digest(
            { table: TABLE, rows: [...list, ['org_1', '2026-02-01', 'zzz', 1, 0, null]] },
            { table: tables.toolsDailyBySkill, rows: [] },
          ),
          digest({ table: tables.toolsDailyBySkill, rows: list }),
          digest({ table: TABLE, rows: list }),
        ];
        expect(new Set([whole, ...others]).size).toBe(others.length + 1);
      }),
    );
  });

  it('distinguishes NULL, zero and an empty text', () => {
    const of = (v: string | number | null) =>
      digest({ table: TABLE, rows: [['o', '2026-02-01', 't', v, 0, null]] });
    expect(new Set([of(null), of(0), of(''), of('0'), of('null')]).size).toBe(5);
  });

  it('covers every table with content of the service, and no table of the exporter', () => {
    expect(
      contentTables.filter(({ name }) => /^(export_|restatements|quarantine|schema_drift)/.test(name)),
    ).toEqual([]);
    expect(contentTables).toHaveLength(22);
  });
});
