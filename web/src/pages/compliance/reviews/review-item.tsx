import { useSignal } from '@preact/signals';
import { api } from '../../../api/client.ts';
import { write } from '../../../api/write.ts';
import { actorText } from '../../../design/actor-words.ts';
import { Chip } from '../../../design/chip.tsx';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { Time } from '../../../ui/time.tsx';
import type { ReviewItem } from '../types.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

interface Props {
  readonly review: string;
  readonly item: ReviewItem;
  readonly isOpen: boolean;
  readonly decided: () => void;
}

/** One holder of access, policy or kind of entries: what it is, what it may do, and what was decided of it. */
export function Item({ review, item, isOpen, decided }: Props) {
  const { type, name, facts, told, may, standing, decision, in_force: isInForce, end_by: endBy } = item;
  const known = [...Object.entries(facts), ...Object.entries(told)];
  return (
    <li class="stack-small">
      <span class="row">
        <strong class="break">{name}</strong>
        <Chip>{type}</Chip>
        {standing === 'changed' && <Chip tone="warn">▲ changed since it was listed</Chip>}
        {standing === 'ended' && <Chip>✕ ended meanwhile</Chip>}
        {isOpen && standing !== 'ended' && <Decide review={review} item={item} decided={decided} />}
      </span>
      {may.length > 0 && <span class="break">May: {may.join(', ')}</span>}
      <span class="dim small row">
        {known.map(([field, value]) => (
          <span key={field} class="break">
            {field.replaceAll('_', ' ')}: {INSTANT.test(value) ? <Time at={value} /> : actorText(value)}
          </span>
        ))}
      </span>
      {decision && (
        <span class="row small">
          <Chip tone={decision.verdict === 'confirmed' ? 'ok' : 'danger'}>
            {decision.verdict === 'confirmed' ? `● confirmed` : `▲ flagged`}
          </Chip>
          <span class="break">{decision.note}</span>
          <span class="dim">
            {decision.by} <Time at={decision.at} /> {decision.own && 'decided by who holds it'}
          </span>
          {isInForce !== null && (
            <Chip tone={isInForce ? 'warn' : 'ok'}>{isInForce ? 'still in force' : 'ended since'}</Chip>
          )}
          {isInForce && endBy && (
            <span class="dim">
              Ended by <code>{endBy.operation}</code>
            </span>
          )}
        </span>
      )}
    </li>
  );
}

function Decide({ review, item: { id, name, digest, decision }, decided }: Omit<Props, 'isOpen'>) {
  const isFlagging = useSignal(false);
  const note = useSignal('');
  const { isActing, problem, act } = useAct();
  const decide = async (verdict: 'confirmed' | 'flagged') => {
    const body = { items: [{ item: id, verdict, note: note.value, digest }], note: '' };
    const call = api.POST('/api/v1/ai/compliance/reviews/{id}/decisions', { params: { path: { id: review } }, body });
    await write(call, `${name} is ${verdict}.`);
    decided();
  };
  return (
    <>
      <span class="row push">
        {decision?.verdict !== 'confirmed' && (
          <button type="button" disabled={isActing.value} onClick={() => act(() => decide('confirmed'))}>
            Confirm <span class="visually-hidden">{name}</span>
          </button>
        )}
        {decision?.verdict !== 'flagged' && (
          <button type="button" class="danger" onClick={() => (isFlagging.value = true)}>
            Flag <span class="visually-hidden">{name}</span>
          </button>
        )}
      </span>
      <ProblemNotice problem={problem.value} />
      {isFlagging.value && (
        <Confirm
          title={`Flag ${name} to be ended?`}
          act="Flag"
          run={() => decide('flagged')}
          close={() => (isFlagging.value = false)}
        >
          <p>The review ends nothing: somebody ends it by the usual way. Say why.</p>
          <TextField label="Why" fields={['/items/0/note']} value={note} required autocomplete="off" />
        </Confirm>
      )}
    </>
  );
}
