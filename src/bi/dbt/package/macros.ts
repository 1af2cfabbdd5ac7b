import type { BiFile } from '../../files/bi-target.ts';

const conversions = `{# The rows of one organization, if the variable names one. #}
{% macro daywalk_of_organization() %}
{%- if var('daywalk_organization') -%}
where org_id = '{{ var('daywalk_organization') | replace("'", "''") }}'
{%- endif -%}
{% endmacro %}

{# An instant as a timestamp in UTC, whatever the time zone of the session. #}
{% macro daywalk_utc(column) %}
{%- if target.type == 'postgres' -%}
({{ column }} at time zone 'UTC')
{%- else -%}
cast({{ column }} as timestamp)
{%- endif -%}
{% endmacro %}

{# The day of a unit of the ledger. Readiness has none: '' in PostgreSQL, NULL in a lake. #}
{% macro daywalk_unit_day(column) %}
{%- if target.type == 'postgres' -%}
cast(nullif({{ column }}, '') as date)
{%- else -%}
{{ column }}
{%- endif -%}
{% endmacro %}
`;

const genericTests = `{# No two rows have the same values in some columns. #}
{% test daywalk_unique_key(model, columns) %}
select {{ columns | join(', ') }}, count(*) as found
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}

{# Every row has a row in another model with the same values in some columns. #}
{% test daywalk_belongs_to(model, columns, to, condition=none) %}
select {% for column in columns %}child.{{ column }}{{ ', ' if not loop.last }}{% endfor %}
from {{ model }} as child
left join (
  select distinct {{ columns | join(', ') }}, 1 as is_found
  from {{ to }}
  {% if condition is not none %}where {{ condition }}{% endif %}
) as parent
  on {% for column in columns %}parent.{{ column }} = child.{{ column }}{{ ' and ' if not loop.last }}{% endfor %}
where parent.is_found is null
{% endtest %}
`;

/** What models and tests of the package share. */
export const macroFiles: readonly BiFile[] = [
  { path: 'macros/conversions.sql', text: conversions },
  { path: 'macros/generic_tests.sql', text: genericTests },
];
