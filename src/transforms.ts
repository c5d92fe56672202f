/** What the files of custom transforms import, and nothing else. */
export {
  defineTransform,
  type CustomTransform,
  type CustomTransformExample,
  type TransformContext,
  type TransformInput,
  type TransformOption,
  type TransformOptionValue,
  type TransformRejection,
  type TransformResults,
} from './mapping/transforms/custom/define-transform.js';
