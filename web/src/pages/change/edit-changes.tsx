import { useSignal } from '@preact/signals';
import { dump } from 'js-yaml';
import type { TypedChange } from '../../api/types.ts';
import { YamlEditor } from '../../ui/yaml-editor.tsx';
import { changesOf } from './typed-changes.ts';

/** The typed changes of a plan as YAML, to be changed and planned again. */
export function EditChanges({
  changes,
  plan,
}: {
  changes: readonly TypedChange[];
  plan: (changes: readonly TypedChange[]) => void;
}) {
  const text = useSignal(dump(changes, { lineWidth: -1, noRefs: true }));
  const fault = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    const read = changesOf(text.value);
    fault.value = typeof read === 'string' ? read : '';
    if (typeof read !== 'string') plan(read);
  };
  return (
    <form class="stack" onSubmit={submit}>
      <p class="dim">The changes as they are written. Where the sentence is read, the effect is compared with it.</p>
      <YamlEditor label="Changes as YAML" value={text} />
      {fault.value !== '' && (
        <p class="notice danger break" role="alert">
          {fault.value}
        </p>
      )}
      <div class="row">
        <button type="submit">Preview changes</button>
      </div>
    </form>
  );
}
