import { useSignal } from '@preact/signals';
import { api } from '../api/client.ts';
import { write } from '../api/write.ts';
import { useAct } from '../ui/act.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { ProblemNotice } from '../ui/problem.tsx';
import type { Asked } from './asked.ts';
import { VERDICTS } from './why.tsx';

type Expect = 'reachable' | 'unreachable';

interface Props {
  readonly asked: Asked;
  /** What is so now. */
  readonly expect: Expect;
  readonly close: () => void;
}

const EXPECTED = ['reachable', 'unreachable'] as const;
const LONGEST_NAME = 63;

/** Makes a standing assertion of what was asked. */
export function MakeAssertion({ asked, expect, close }: Props) {
  const { src, dst, protocol, port } = asked;
  const what = [protocol.toLowerCase(), port].filter((part) => part !== '');
  const name = useSignal(slugOf([src || 'all', expect === 'reachable' ? 'to' : 'not-to', dst || 'all', ...what]));
  const [from, to] = [useSignal(src || '*'), useSignal(dst || '*')];
  const must = useSignal<string>(expect);
  const { isActing, problem, act } = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = {
      name: name.value,
      src: from.value,
      dst: to.value,
      expect: must.value as Expect,
      ...(protocol && { protocol: protocol as 'TCP' }),
      ...(port && { port: Number(port) }),
    };
    const create = () => write(api.POST('/api/v1/assertions', { body }), `The assertion ${name.value} is created.`);
    if (await act(create)) close();
  };
  return (
    <Dialog title="New assertion" close={close}>
      <Form problem={problem} class="stack" onSubmit={submit}>
        <p class="dim">What must stay true. A change that would break one is refused.</p>
        <TextField
          label="Name"
          hint="Lowercase letters, digits and hyphens"
          value={name}
          required
          autocomplete="off"
          maxLength={LONGEST_NAME}
        />
        <TextField label="From" fields={['src']} value={from} required autocomplete="off" />
        <TextField label="To" fields={['dst']} value={to} required autocomplete="off" />
        <SelectField
          label="Must stay"
          fields={['expect']}
          value={must}
          options={EXPECTED.map((each) => [each, VERDICTS[each]] as const)}
        />
        {what.length > 0 && (
          <p>
            Allowed: <code>{what.join('/')}</code>
          </p>
        )}
        <ProblemNotice problem={problem.value} />
        <div class="row">
          <button type="submit" class="primary" disabled={isActing.value}>
            Create assertion
          </button>
          <button type="button" class="quiet" onClick={close}>
            Cancel
          </button>
        </div>
      </Form>
    </Dialog>
  );
}

function slugOf(parts: readonly string[]): string {
  const text = parts.join('-').toLowerCase();
  return text
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_NAME)
    .replace(/^-/, '')
    .replace(/-$/, '');
}
