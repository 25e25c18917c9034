import { queryPart } from '../../route/route.ts';
import { exactTime, shortTime, Time } from '../../ui/time.tsx';

/** The begin or the end of a policy. In a view of the past it is no distance from now, so that it is a date there. */
export function PolicyTime({ at, none }: { at: unknown; none?: string }) {
  if (typeof at !== 'string') return <span class="dim">{none}</span>;
  if (queryPart('at') === null) return <Time at={at} />;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {shortTime(at)}
    </time>
  );
}
