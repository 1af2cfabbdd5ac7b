import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalize } from '../../../support/pipeline/normalize.ts';
import { rowOf, USER_METRICS } from '../../../support/random/api-rows.ts';

const USER = { user_id: 'u-1', date: '2026-02-01' };

/** Distinct users, as one or several pages hold them. */
const users = fc.uniqueArray(rowOf.users, { selector: (row) => row['user_id'], maxLength: 8 });

describe('users', () => {
  it('are all stored, every number and label as sent, NULL if missing', () => {
    fc.assert(
      fc.property(users, (rows) => {
        const stored = normalize('users', rows).rows('user_daily');
        expect(stored.map((row) => row['user_id']).toSorted()).toEqual(
          rows.map((row) => row['user_id']).toSorted(),
        );
        for (const row of rows) {
          const one = stored.find((other) => other['user_id'] === row['user_id']) ?? {};
          const columns = [
            ...USER_METRICS,
            'user_email',
            'primary_model',
            'primary_model_tier',
            'delegation_level',
          ];
          for (const column of columns) expect(one[column], column).toBe(row[column] ?? null);
        }
      }),
    );
  });

  it('have each of their languages once', () => {
    fc.assert(
      fc.property(users, (rows) => {
        const stored = normalize('users', rows).rows('user_daily_languages');
        const expected = rows.flatMap((row) =>
          [...new Set((row['languages'] ?? []) as string[])].map((language) =>
            JSON.stringify([row['user_id'], language]),
          ),
        );
        expect(stored.map((row) => JSON.stringify([row['user_id'], row['language']])).toSorted()).toEqual(
          expected.toSorted(),
        );
      }),
    );
  });

  it('have the same content for any page and position', () => {
    fc.assert(
      fc.property(users, fc.infiniteStream(fc.nat()), (rows, random) => {
        const mixed = rows.map((row) => [random.next().value, row] as const).toSorted(([a], [b]) => a - b);
        expect(
          normalize(
            'users',
            mixed.map(([, row]) => row),
          ).digest,
        ).toBe(normalize('users', rows).digest);
      }),
    );
  });

  it('that are sent twice count once, without a report', () => {
    fc.assert(
      fc.property(users, fc.nat(), (rows, at) => {
        const again = rows.length === 0 ? [] : [rows[at % rows.length]];
        const { digest, findings } = normalize('users', [...rows, ...again]);
        expect(digest).toBe(normalize('users', rows).digest);
        expect(findings.isContradictory).toBe(false);
      }),
    );
  });

  it('that are sent twice with different numbers are held, and the record is named', () => {
    const { findings } = normalize('users', [
      { ...USER, sessions: 1, languages: ['Go'] },
      { ...USER, sessions: 2, languages: ['C'] },
    ]);
    expect(findings.isContradictory).toBe(true);
    expect(findings.held).toMatchObject([{ table: { name: 'user_daily' } }]);
    expect(findings.quarantined).toMatchObject([{ path: 'data[1]', isHeld: true }]);
    expect(findings.setAside).toBe(0);
  });

  it('that are sent twice with their languages in another order are no contradiction', () => {
    const twice = [
      { ...USER, languages: ['Go', 'C'] },
      { ...USER, languages: ['C', 'Go', 'Go'] },
    ];
    expect(normalize('users', twice).findings.quarantined).toEqual([]);
  });

  it('with an unknown tier or level are kept, and reported as drift', () => {
    const row = { ...USER, primary_model_tier: 'turbo', delegation_level: 'auto-max' };
    const { rows, findings } = normalize('users', [row]);
    expect(rows('user_daily')).toMatchObject([{ primary_model_tier: 'turbo', delegation_level: 'auto-max' }]);
    expect(findings.drift).toEqual([
      { path: 'data[].primary_model_tier', kind: 'new value', sample: 'turbo' },
      { path: 'data[].delegation_level', kind: 'new value', sample: 'auto-max' },
    ]);
  });
});
