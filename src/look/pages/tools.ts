import { type SQL, sql } from '../../../schema/query.ts';
import { PHRASES } from '../../metrics/index.ts';
import { groupsOf, type Ranking } from '../figures/groups.ts';
import { headline } from '../figures/headline.ts';
import { comparison } from '../figures/opening.ts';
import { drawFigure, drawPair, type FigureSpec } from '../figures/over-time.ts';
import { cellOf, type Result, type ShownNumber, shareOf, sumOf, wholeSumOf } from '../numbers.ts';
import {
  type Cell,
  emptinessOf,
  emptyFigure,
  type Figure,
  type Headline,
  orNotKept,
  type Page,
  type Phrase,
} from '../page.ts';
import { type Filters, type PageReader, scopeOf } from '../reader.ts';
import { nounFor, periodHeading, periodWords } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** Which tools, servers, skills, commands and hooks were used. */
export const tools: PageKind = {
  path: '/tools',
  name: 'Tools',
  async build(reader) {
    const count = (metric: string, title: string) => headline(reader, { metric, title, format: 'compact' });
    const calls = await count('tool_calls', 'Tool calls');
    const others = [
      await count('mcp_calls', 'MCP calls'),
      await count('skill_calls', 'Skill calls'),
      await count('hooks', 'Hooks'),
    ];
    const artifacts = await readArtifacts(reader);
    const names = new Set(artifacts.rows.map((row) => String(row['tool'])));
    return {
      name: 'Tools',
      heading: `Tools, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader, calls),
      sections: [
        { kind: 'headlines', headlines: [calls, ...others] },
        await drawPair(reader, PER_WEEK, invocations('mcp_invocations', SERVERS)),
        await drawPair(reader, toolsBut(names), invocations('slash_command_invocations', COMMANDS)),
        {
          kind: 'pair',
          figures: [
            await drawFigure(reader, invocations('skill_invocations', SKILLS)),
            artifactsFigure(reader, artifacts),
          ],
        },
        await hooksTable(reader),
      ],
      basis: calls.results[0]?.basis,
    } satisfies Page;
  },
};

const PER_WEEK: FigureSpec = {
  draw: 'bars',
  id: 'tools-per-week',
  title: 'Tools per week',
  unit: 'Invocations',
  metric: 'tool_invocations',
  by: 'tool',
  grain: 'week',
  format: 'count',
};
const TOOLS = { by: 'tool', id: 'tools', title: 'Tools', thing: 'Tool' } as const;
const SERVERS = { by: 'server', id: 'servers', title: 'MCP servers', thing: 'Server' } as const;
const SKILLS = { by: 'skill', id: 'skills', title: 'Skills', thing: 'Skill' } as const;
const COMMANDS = {
  by: 'slash_command',
  id: 'slash-commands',
  title: 'Slash commands',
  thing: 'Command',
} as const;

function invocations(
  metric: string,
  spec: Pick<Ranking, 'by' | 'id' | 'title' | 'thing' | 'nameCell'>,
): FigureSpec {
  return { draw: 'ranking', metric, unit: 'Invocations', amount: 'Invocations', format: 'count', ...spec };
}

/** The tools, with those muted whose names are no tools. */
function toolsBut(artifacts: ReadonlySet<string>): FigureSpec {
  const nameCell: Required<Ranking>['nameCell'] = ({ name, isOthers, members }) => ({
    kind: 'text',
    text: isOthers ? `${members.length} ${name}` : artifacts.has(name) ? `${name} (no tool)` : name,
    isMuted: isOthers || artifacts.has(name),
  });
  return invocations('tool_invocations', { ...TOOLS, nameCell });
}

/** Tool calls come from the rows of users, invocations from the organization: the words keep them apart. */
async function sentenceOf(reader: PageReader, calls: Headline): Promise<Phrase> {
  const { words, ...scope } = scopeOf(reader.filters, 'tool_invocations');
  const result = await reader.ask({ metric: 'tool_invocations', title: 'Tools', by: ['tool'], ...scope });
  const groups = groupsOf(result, { group: 'tool', format: 'count', most: 12 });
  const [first] = groups;
  const numbers = groups.map(({ total }) => total);
  return [
    ...callsOf(calls, reader.filters),
    ...(first === undefined || first.isOthers
      ? []
      : [
          ` ${first.name} was used most, with `,
          shareOf(first.total, wholeSumOf(numbers, 'count')),
          ` of all invocations of tools${words === '' ? '' : ' in the whole organization'}.`,
        ]),
  ];
}

function callsOf(calls: Headline, filters: Filters): Phrase {
  const { number } = calls;
  if (number.value === null)
    return [orNotKept(calls.results[0], 'No day of this period is stored, so no tool call is known.')];
  return [
    { kind: 'strong', parts: [number, nounFor(number, ' tool call', ' tool calls')] },
    ...comparison(calls, filters, 'fewer'),
    '.',
  ];
}

/** Names of tools that look like parsing errors of the service. They count as invocations, as published. */
async function readArtifacts(reader: PageReader): Promise<Result> {
  const { filters, warehouse } = reader;
  const { orgId, from, until } = filters;
  return reader.select({
    title: 'Names of tools that look like parsing errors',
    query: sql`SELECT tool, SUM(invocations) AS invocations
FROM tools_daily_by_tool
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until} AND is_artifact
GROUP BY tool
ORDER BY invocations DESC, ${PHRASES[warehouse.dialect].sortable(sql`tool`)}`,
    streams: ['tools'],
  });
}

const ARTIFACTS_MAX = 12;

/** The table of such names. */
function artifactsFigure({ filters }: PageReader, result: Result): Figure {
  const name = { id: 'names-that-are-no-tools', title: 'Names that are no tools', unit: 'Invocations' };
  const isEmpty = result.rows.length === 0;
  if (isEmpty) return emptyFigure(name, emptinessOf(result, 'Every name is that of a tool.'), [result]);
  return {
    kind: 'figure',
    id: name.id,
    title: name.title,
    subtitle: `${name.unit}, ${periodWords(filters)}${scopeOf(filters, 'tool_invocations').words}`,
    table: {
      columns: [{ title: 'Name, as the service sent it' }, { title: 'Invocations', align: 'end' }],
      rows: result.rows
        .slice(0, ARTIFACTS_MAX)
        .map((row, index) => [
          { kind: 'text', text: JSON.stringify(row['tool']), isCode: true },
          cellOf(result, index, 'count', { column: 'invocations' }),
        ]),
    },
    results: [result],
    notes: [
      ['These names look like parsing errors of the service. They are counted as it publishes them.'],
      ...(result.rows.length > ARTIFACTS_MAX ? [['The query lists the names that are left out here.']] : []),
    ],
  };
}

const HOOKS_NAME = { id: 'hooks', title: 'Hooks', unit: 'Invocations' } as const;
const HOOKS_MAX = 12;

/** The hooks of the period by event, matcher and command. */
async function hooksTable(reader: PageReader): Promise<Figure> {
  const { filters } = reader;
  const parts = ['event', 'matcher', 'command'];
  const result = await reader.select({
    title: `Invocations of hooks by ${parts.join(', ')}`,
    query: hooksQuery(reader, parts),
    streams: ['tools'],
  });
  if (result.rows.length === 0) return emptyFigure(HOOKS_NAME, emptinessOf(result), [result]);
  const numbers = result.rows.map((_, index) => cellOf(result, index, 'count', { column: 'invocations' }));
  const whole = sumOf(numbers, 'count');
  const max = Math.max(0, ...numbers.map(({ value }) => value ?? 0));
  const rowOf = (cells: readonly Cell[], number: ShownNumber): readonly Cell[] => [
    ...cells,
    number,
    { kind: 'bar', value: number.value, max },
    shareOf(number, whole),
  ];
  const left = numbers.slice(HOOKS_MAX);
  return {
    kind: 'figure',
    id: HOOKS_NAME.id,
    title: HOOKS_NAME.title,
    subtitle: `${HOOKS_NAME.unit}, ${periodWords(filters)}${scopeOf(filters, 'hook_invocations').words}`,
    table: {
      columns: [
        ...parts.map((part) => ({ title: `${part.slice(0, 1).toUpperCase()}${part.slice(1)}` })),
        { title: 'Invocations', align: 'end' },
        { title: '' },
        { title: 'Share', align: 'end' },
      ],
      rows: [
        ...numbers.slice(0, HOOKS_MAX).map((number, index) =>
          rowOf(
            parts.map((part) => partCell(String(result.rows[index]?.[part] ?? ''), part)),
            number,
          ),
        ),
        ...(left.length === 0
          ? []
          : [
              rowOf(
                [muted(`${left.length} others`), ...parts.slice(1).map(() => muted(''))],
                sumOf(left, 'count'),
              ),
            ]),
      ],
    },
    results: [result],
  };
}

function hooksQuery({ filters, warehouse }: PageReader, parts: readonly string[]): SQL {
  const { orgId, from, until } = filters;
  const { sortable } = PHRASES[warehouse.dialect];
  const columns = parts.map((part) => sql.raw(part));
  const listed = sql.join(columns, sql`, `);
  return sql`SELECT ${listed}, SUM(count) AS invocations
FROM tools_daily_by_hook
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until}
GROUP BY ${listed}
ORDER BY invocations DESC, ${sql.join(columns.map(sortable), sql`, `)}`;
}

function partCell(text: string, part: string): Cell {
  if (text === '') return muted('–');
  return { kind: 'text', text, isCode: part !== 'event' };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
