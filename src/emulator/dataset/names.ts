/** Splits a text into its words. */
export function split(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

export const FIRST_NAMES = split(`
  ada alan amir ana bella chen dana dmitri elif emre fatima grace hana ines ivan jonas kofi lena li lucia
  mara mateo mei nadia noor omar paula priya rafael ren sara sven tariq uma vera wei yara yuki zane zoe
`);

/** A changed email has another last name. */
export const LAST_NAMES = split(`
  abe adler almeida bauer blanc castro cohen diaz eriksen farah fischer garcia gupta haddad hansen ito jansen
  kaya khan kim kowalski kumar larsen lopez mensah moreau nakamura novak okafor oliveira park petrov quinn
  rossi sato silva tanaka usman weber zhang
`);

/** The names of repositories; further repositories get a number. */
export const REPOSITORY_NAMES = split(`
  storefront billing identity search mobile-app design-system data-platform notifications gateway inventory
  infra docs-site ml-ranking support-tools analytics-jobs partner-api checkout media-pipeline feature-flags
  cli
`);
