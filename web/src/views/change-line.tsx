import type { components } from '../api/schema.d.ts';
import { views } from '../texts/views.ts';
import { Sentence } from '../ui/sentence.tsx';

const words = views.timeline;

type Props = Pick<components['schemas']['ConnectivityTimeline']['intervals'][number], 'change' | 'causes'>;

/** What began an interval, and who did it. */
export function ChangeLine({ change, causes }: Props) {
  const names = causes.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  return (
    <>
      {names !== '' && (
        <p class="small break">
          {words.because} {names}
        </p>
      )}
      {change && (
        <p class="small dim break">
          {change.actor}: <Sentence text={change.reason} /> ({words.revision(change.revision)}
          {change.reviewed_by !== null && `, ${words.approvedBy(change.reviewed_by)}`})
        </p>
      )}
    </>
  );
}
