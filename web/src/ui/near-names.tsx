import type { Problem } from '../api/problem.ts';
import { hrefOf, route } from '../route/route.ts';
import { quotedIn } from './quoted.ts';

/** Names near one that is not there, each as a link to this page with that name in the address. */
export function NearNames({ problem }: { problem: Problem }) {
  const unknown = new Set(quotedIn(problem.message));
  const links = problem.listed('nearest').flatMap((name) => {
    const href = hrefWith(unknown, name);
    return href === undefined ? [] : [[name, href] as const];
  });
  if (links.length === 0) return null;
  return (
    <span class="row">
      Open
      {links.map(([name, href]) => (
        <a key={name} class="break" href={href}>
          {name}
        </a>
      ))}
    </span>
  );
}

/** Returns this address with a name in place of an unknown one; undefined where it has none of them. */
function hrefWith(unknown: ReadonlySet<string>, name: string): string | undefined {
  const { workspace, page, rest, query } = route.value;
  const replaced = (text: string) => (unknown.has(text) ? name : text);
  const next = new URLSearchParams([...query].map(([key, value]) => [key, replaced(value)]));
  const href = hrefOf({ workspace, page, rest: rest.map(replaced), query: next });
  return href === hrefOf({ workspace, page, rest, query }) ? undefined : href;
}
