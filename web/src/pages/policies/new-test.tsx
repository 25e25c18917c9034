import { useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import { write } from '../../api/write.ts';
import { useAct } from '../../ui/act.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { portsOf } from './ports-text.ts';

const EXPECTS = { reachable: 'reaches', unreachable: 'never reaches' } as const;

/** Says what must stay true: who reaches whom, or never does. */
export function NewTest({ close }: { close: () => void }) {
  const name = useSignal('');
  const src = useSignal('');
  const dst = useSignal('');
  const expect = useSignal<string>('unreachable');
  const ports = useSignal('');
  const { isActing, problem, act } = useAct();
  const read = portsOf(ports.value);
  const isWrong = typeof read === 'string' || read.length > 1;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isWrong) return;
    const body = {
      name: name.value.trim(),
      src: src.value.trim(),
      dst: dst.value.trim(),
      expect: expect.value === 'reachable' ? ('reachable' as const) : ('unreachable' as const),
      ...portFields(read[0]),
    };
    const create = () => write(api.POST('/api/v1/assertions', { body }), `${body.name} is created.`);
    if (await act(create)) close();
  };
  return (
    <Dialog title="New test" close={close}>
      <Form problem={problem} class="stack" onSubmit={submit}>
        <TextField label="Name" value={name} required autocomplete="off" />
        <TextField
          label="From"
          fields={['src']}
          hint="A peer, label=value, or * for every peer."
          value={src}
          required
          autocomplete="off"
        />
        <SelectField label="Expected" fields={['expect']} value={expect} options={Object.entries(EXPECTS)} />
        <TextField
          label="To"
          fields={['dst']}
          hint="A peer, label=value, or * for every peer."
          value={dst}
          required
          autocomplete="off"
        />
        <TextField
          label="Port"
          hint="As TCP 5432 or TCP 8000-8100. Empty: everything."
          value={ports}
          autocomplete="off"
        />
        {isWrong && <p class="fault">Write one port or range, as TCP 5432.</p>}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value || isWrong}>
            Create test
          </button>
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

/** A port alone is one of TCP. */
function portFields(entry: Exclude<ReturnType<typeof portsOf>, string>[number] | undefined) {
  if (!entry) return {};
  return entry.port === undefined ? entry : { protocol: 'TCP' as const, ...entry };
}
