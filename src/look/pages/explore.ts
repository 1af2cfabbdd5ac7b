import { sql } from '../../../schema/query.ts';
import { nearestName, UsageError } from '../../core/errors.ts';
import { contractOf, whyNotKept } from '../../expected/index.ts';
import { checkUser, teamsInPlaceOfTable, withSql } from '../../metrics/index.ts';
import { runReads } from '../../port/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import { headline } from '../figures/headline.ts';
import { comparedPhrase, comparison } from '../figures/opening.ts';
import { overPeriod } from '../figures/over-time.ts';
import { type Chosen, lastOf, metricOf, ROWS, sliceOf, sliceRows, VALUES } from '../figures/slice.ts';
import { type ShownNumber, shareOf } from '../numbers.ts';
import {
  type Headline,
  type LinkPart,
  orNotKept,
  type Page,
  type Phrase,
  type Slice,
  slicePath,
} from '../page.ts';
import { type PageReader, readerOfTeam, readerWhere } from '../reader.ts';
import { asSentence, duringWords, nounFor, periodHeading } from '../words.ts';
import type { PageKind } from './page-kind.ts';

/** What a number consists of: one team, model or person, or several of them together, with the rows that add up to it. */
export const explore: PageKind = {
  path: '/explore',
  async build(reader, { slice = {} }) {
    const chosen = await chosenIn(reader, slice);
    const { model, person, by, value } = chosen;
    const own = readerWhere(reader, {
      ...(person !== undefined && { user: person }),
      ...(model !== undefined && { where: { model } }),
    });
    const total = await headline(own, { ...metricOf(chosen), title: 'All', hasLine: false });
    const people = await headline(own, {
      ...{ metric: model === undefined ? 'active_users' : 'user_model_active_users' },
      ...{ title: 'People', format: 'count', hasLine: false },
    });
    const names = by === 'person' || person !== undefined ? await namesOf(reader) : new Map<string, string>();
    const personName = person === undefined ? undefined : (names.get(person) ?? lastOf(person));
    return {
      name: 'Explore',
      heading: `${nameOf(chosen, personName)}, ${periodHeading(reader.filters)}`,
      crumbs: crumbsOf(chosen, personName),
      choices: choicesOf(chosen, personName),
      sentence: [
        ...sentenceOf(reader, { chosen, total, people }),
        ...(await sharesOf(reader, chosen, total.number, personName)),
        ...comparedPhrase(total, reader.filters, slicePath(sliceOf(chosen))),
      ],
      sections: [
        await overPeriod(own, {
          ...{ id: 'per-day', title: `${value === 'cost' ? 'Cost' : 'Credits'} per day` },
          ...(value === 'cost'
            ? { unit: total.unit ?? 'Cost', format: 'money' as const }
            : { unit: 'Million', format: 'compact' as const, divisor: 1e6 }),
          metric: metricOf(chosen).metric,
        }),
        await sliceRows(own, { chosen, total, names }),
      ],
      basis: total.results[0]?.basis,
    } satisfies Page;
  },
};

/** @throws {UsageError} for a thing that does not exist, and for rows or a value that cannot be. */
async function chosenIn(reader: PageReader, slice: Slice): Promise<Chosen> {
  const { filters, warehouse } = reader;
  const { model, person } = slice;
  if (person !== undefined) await checkUser(warehouse, filters.orgId, person);
  if (model !== undefined) await checkModel(reader, model);
  const isOrganization = filters.team === undefined && person === undefined;
  const notKept = whyNotKept(await runReads(warehouse, contractOf(filters.orgId)), ['users']);
  const isPerUser = notKept === null && person === undefined;
  const usual = model === undefined && !isOrganization ? 'model' : isPerUser ? 'person' : 'day';
  const by =
    oneOf(ROWS, slice.by, 'kind of rows') ?? (isOrganization && model === undefined ? 'team' : usual);
  return {
    team: filters.team === undefined ? undefined : (filters.team ?? UNASSIGNED),
    ...{ model, person, by },
    value: oneOf(VALUES, slice.value, 'value') ?? 'credits',
  };
}

function oneOf<Name extends string>(
  names: readonly Name[],
  asked: string | undefined,
  what: string,
): Name | undefined {
  const known = names.find((name) => name === asked);
  if (asked === undefined || known !== undefined) return known;
  throw new UsageError(`"${asked}" is no ${what}`, { hint: `choose one of ${names.join(', ')}` });
}

async function checkModel({ warehouse, filters }: PageReader, model: string): Promise<void> {
  const found = await warehouse.select(
    sql`SELECT DISTINCT model_id FROM tokens_daily_by_model WHERE org_id = ${filters.orgId}`,
  );
  const models = found.map(({ model_id }) => String(model_id));
  if (models.includes(model)) return;
  const nearest = nearestName(model, models);
  throw new UsageError(`no row is of the model "${model}"`, {
    hint: nearest === undefined ? 'the page of models lists them' : `did you mean ${nearest}?`,
  });
}

/** The names or addresses of people, by user ID. They are no numbers, so that the page shows no query for them. */
async function namesOf({ warehouse, filters }: PageReader): Promise<ReadonlyMap<string, string>> {
  const { orgId, until } = filters;
  const found = await warehouse.select(
    withSql(
      await teamsInPlaceOfTable(warehouse, orgId),
      sql`SELECT u.user_id, COALESCE(p.name, u.user_email) AS name FROM users u
LEFT JOIN user_teams t ON t.org_id = u.org_id AND t.user_id = u.user_id AND ${until} BETWEEN t.valid_from AND t.valid_to
LEFT JOIN people p ON p.org_id = u.org_id AND p.person = t.person
  AND ${until} >= p.valid_from AND (p.valid_to IS NULL OR ${until} <= p.valid_to)
WHERE u.org_id = ${orgId}`,
    ),
  );
  return new Map(
    found.flatMap(({ user_id, name }) =>
      typeof name === 'string' && name !== '' ? [[String(user_id), name] as const] : [],
    ),
  );
}

/** `Platform with atlas-4-thinking`. */
function nameOf({ team, model }: Chosen, person: string | undefined): string {
  const who = [person, team].filter((name) => name !== undefined).join(', ');
  if (model === undefined) return who === '' ? 'Everybody' : who;
  return who === '' ? model : `${who} with ${model}`;
}

function crumbsOf({ team, model, person, value }: Chosen, personName: string | undefined): LinkPart[] {
  const link = (text: string, path: string | undefined): LinkPart[] =>
    path === undefined ? [] : [{ kind: 'link', text, path }];
  return [
    ...link('Overview', '/'),
    ...(team === undefined ? [] : [...link('Teams', '/teams'), ...link(team, slicePath({ team, value }))]),
    ...(model === undefined || team !== undefined || person !== undefined
      ? []
      : [...link('Models', '/models'), ...link(model, slicePath({ model, value }))]),
    ...(person === undefined
      ? []
      : [
          ...link('People', '/people'),
          ...link(personName ?? lastOf(person), slicePath({ person, value, team: '' })),
        ]),
  ];
}

/** The chosen filters, each with a link that removes it, and the rows and values that could be chosen instead. */
function choicesOf(chosen: Chosen, personName: string | undefined): NonNullable<Page['choices']> {
  const { team, model, person, by, value } = chosen;
  const slice = sliceOf(chosen);
  const link = (text: string, changed: Slice): Phrase => {
    const path = slicePath({ ...slice, ...changed });
    return path === undefined ? [text] : [{ kind: 'link', text, path }];
  };
  // The name leads to all that is about it alone.
  const filter = (label: string, alone: Slice, name: string | undefined, without: Slice) => {
    const path = slicePath({ team: '', ...alone, value });
    const isChosen = name !== undefined && path !== undefined;
    const parts = isChosen
      ? [{ kind: 'link' as const, text: name, path }, ' ', ...link('×', without)]
      : ['all'];
    return { label, parts };
  };
  const instead = (names: readonly string[], current: string, changed: (name: string) => Slice): Phrase =>
    names.flatMap(
      (name, index): Phrase => [
        ...(index === 0 ? [] : [' · ']),
        ...(name === current ? [{ kind: 'strong' as const, parts: [name] }] : link(name, changed(name))),
      ],
    );
  const rows = ROWS.filter(
    (name) =>
      (name !== 'person' || person === undefined) &&
      (name !== 'team' || team === undefined) &&
      (name !== 'model' || model === undefined),
  );
  return [
    filter('Team', { team }, team, { team: '', by: undefined }),
    filter('Model', { model }, model, { model: undefined, by: undefined }),
    filter('Person', { person }, person === undefined ? undefined : (personName ?? lastOf(person)), {
      person: undefined,
      by: undefined,
    }),
    { label: 'Client', parts: ['published for the organization only'] },
    { label: 'Rows', parts: instead(rows, by, (name) => ({ by: name })) },
    { label: 'Value', parts: instead(VALUES, value, (name) => ({ value: name })) },
  ];
}

function sentenceOf(
  { filters }: PageReader,
  { chosen, total, people }: { chosen: Chosen; total: Headline; people: Headline },
): Phrase {
  const { number } = total;
  const [now] = total.results;
  if (number.value === null) {
    return [
      now === undefined
        ? asSentence(number.why ?? 'nothing is stored')
        : orNotKept(now, asSentence(number.why ?? `nothing is stored ${duringWords(filters)}`)),
    ];
  }
  const unit = chosen.value === 'cost' ? `\u00a0${total.unit ?? ''}` : nounFor(number, ' credit', ' credits');
  const by: Phrase =
    chosen.person !== undefined || people.number.value === null
      ? []
      : [' by ', { kind: 'strong', parts: [people.number, nounFor(people.number, ' person', ' people')] }];
  return [{ kind: 'strong', parts: [number, unit] }, ...by, ...comparison(total, filters), '.'];
}

/** How much of the whole of a team, a person and a model it is, where several are chosen. */
async function sharesOf(
  reader: PageReader,
  chosen: Chosen,
  number: ShownNumber,
  personName: string | undefined,
): Promise<Phrase> {
  const { team, model, person, value } = chosen;
  if (number.value === null || model === undefined || (team === undefined && person === undefined)) return [];
  const own = person === undefined ? reader : readerWhere(reader, { user: person });
  const ofWho = await headline(own, {
    ...metricOf({ ...chosen, model: undefined }),
    ...{ title: 'All', hasLine: false },
  });
  const all = readerOfTeam(readerWhere(reader, { where: { model } }), undefined);
  const ofModel = await headline(all, {
    ...metricOf({ ...chosen, team: undefined, person: undefined }),
    ...{ title: 'All', hasLine: false },
  });
  const what = value === 'cost' ? 'cost' : 'credits';
  return [
    ' This is ',
    shareOf(number, ofWho.number),
    ` of the ${what} of ${personName ?? team ?? ''}, and `,
    shareOf(number, ofModel.number),
    ` of the ${what} of the model.`,
  ];
}
