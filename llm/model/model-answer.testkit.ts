import type { ModelAnswer } from './answer-form.ts';

type ModelOrder = ModelAnswer['orders'][number];

/** An order in the form in which a model says it. */
export function modelOrder(order: Pick<ModelOrder, 'do' | 'from' | 'to'> & Partial<ModelOrder>): ModelOrder {
  return {
    from_with: [],
    except_from: [],
    to_with: [],
    except_to: [],
    ports: [],
    side: null,
    both_ways: false,
    for: null,
    starts: null,
    until: null,
    ...order,
  };
}

/** An answer of a model with these orders. */
export function modelAnswer(more: Partial<ModelAnswer> = {}): ModelAnswer {
  return {
    understood: true,
    refusal: '',
    questions: [],
    reasoning: 'It was asked for.',
    risk: 'low',
    orders: [],
    set: [],
    delete: [],
    documents: [],
    ...more,
  };
}

/** An answer to "let only web reach db on 5432"; `from` is who it lets in. */
export function webToDb(more: Partial<ModelAnswer> = {}, from = 'role=web'): ModelAnswer {
  const order = modelOrder({ do: 'only', from: [from], to: ['role=db'], ports: ['tcp/5432'] });
  return modelAnswer({ orders: [order], ...more });
}
