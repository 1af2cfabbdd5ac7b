import { completeWeeks } from '../data/compare.ts';
import type { Filters } from '../data/filters.ts';
import type { PageReader } from '../data/reader.ts';
import { scopeOf } from '../data/scope.ts';
import { viewedGroups } from '../data/viewed-groups.ts';
import { artifactsFigure, readArtifacts } from '../figures/artifacts.ts';
import { headline } from '../figures/headline.ts';
import { hooksTable } from '../figures/hooks-table.ts';
import { comparison } from '../figures/opening.ts';
import { type Ranking, ranking } from '../figures/ranking.ts';
import { stackedGroups } from '../figures/stacked-groups.ts';
import { shareOf, wholeSumOf } from '../page/numbers.ts';
import type { Figure, Headline, Page, Phrase } from '../page/page.ts';
import { periodHeading } from '../words/spans.ts';
import type { PageKind } from './page-kind.ts';

const WEEKS = 13;

/** Which tools, servers, skills, commands and hooks were used. */
export const tools: PageKind = {
  path: '/tools',
  name: 'Tools',
  async build(reader) {
    const calls = await headline(reader, { metric: 'tool_calls', title: 'Tool calls', format: 'compact' });
    const others = [
      await headline(reader, { metric: 'mcp_calls', title: 'MCP calls', format: 'compact' }),
      await headline(reader, { metric: 'skill_calls', title: 'Skill calls', format: 'compact' }),
      await headline(reader, { metric: 'hooks', title: 'Hooks', format: 'compact' }),
    ];
    const artifacts = await readArtifacts(reader);
    const names = new Set(artifacts.rows.map((row) => String(row['tool'])));
    return {
      name: 'Tools',
      heading: `Tools, ${periodHeading(reader.filters)}`,
      sentence: await sentenceOf(reader, calls),
      sections: [
        { kind: 'headlines', headlines: [calls, ...others] },
        {
          kind: 'pair',
          figures: [
            await stackedGroups(reader, {
              metric: 'tool_invocations',
              by: 'tool',
              grain: 'week',
              period: completeWeeks(reader.filters.until, WEEKS),
              id: 'tools-per-week',
              title: 'Tools per week',
              unit: 'Invocations',
              format: 'count',
            }),
            await toolsTable(reader, names),
          ],
        },
        {
          kind: 'pair',
          figures: [
            await table(reader, 'mcp_invocations', {
              by: 'server',
              id: 'servers',
              title: 'MCP servers',
              thing: 'Server',
            }),
            await table(reader, 'skill_invocations', {
              by: 'skill',
              id: 'skills',
              title: 'Skills',
              thing: 'Skill',
            }),
          ],
        },
        await table(reader, 'slash_command_invocations', {
          by: 'slash_command',
          id: 'slash-commands',
          title: 'Slash commands',
          thing: 'Command',
        }),
        await hooksTable(reader),
        ...(names.size > 0 ? [artifactsFigure(reader, artifacts)] : []),
      ],
      basis: calls.results[0]?.basis,
    } satisfies Page;
  },
};

function table(
  reader: PageReader,
  metric: string,
  spec: Pick<Ranking, 'by' | 'id' | 'title' | 'thing'>,
): Promise<Figure> {
  return ranking(reader, { metric, unit: 'Invocations', amount: 'Invocations', format: 'count', ...spec });
}

async function toolsTable(reader: PageReader, artifacts: ReadonlySet<string>): Promise<Figure> {
  return ranking(reader, {
    metric: 'tool_invocations',
    by: 'tool',
    id: 'tools',
    title: 'Tools',
    unit: 'Invocations',
    thing: 'Tool',
    amount: 'Invocations',
    format: 'count',
    nameCell: ({ name, isOthers, members }) => ({
      kind: 'text',
      text: isOthers ? `${members.length} ${name}` : artifacts.has(name) ? `${name} (no tool)` : name,
      isMuted: isOthers || artifacts.has(name),
    }),
  });
}

/** Tool calls come from the rows of users, invocations from the organization: the words keep them apart. */
async function sentenceOf(reader: PageReader, calls: Headline): Promise<Phrase> {
  const { words, ...scope } = scopeOf(reader.filters, 'tool_invocations');
  const result = await reader.ask({ metric: 'tool_invocations', title: 'Tools', by: ['tool'], ...scope });
  const groups = viewedGroups(reader, result, { group: 'tool', format: 'count', most: 12 });
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
  if (number.value === null) return ['No day of this period is stored, so no tool call is known.'];
  return [{ kind: 'strong', parts: [number, ' tool calls'] }, ...comparison(calls, filters, 'fewer'), '.'];
}
