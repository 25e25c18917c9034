import type { components } from '../api/schema.d.ts';
import { actorText } from '../design/actor-words.ts';
import { Sentence } from '../ui/sentence.tsx';

type Props = Pick<components['schemas']['ConnectivityTimeline']['intervals'][number], 'change' | 'causes'>;

/** What began an interval, and who did it. */
export function ChangeLine({ change, causes }: Props) {
  const names = causes.map(({ kind, name }) => `${kind} ${name}`).join(', ');
  return (
    <>
      {names !== '' && <p class="small break">Because of {names}</p>}
      {change && (
        <p class="small dim break">
          {actorText(change.actor)}: <Sentence text={change.reason} /> (revision {change.revision}
          {change.reviewed_by !== null && `, approved by ${actorText(change.reviewed_by)}`})
        </p>
      )}
    </>
  );
}
