"""From IR to IR, without knowing of derivatives: shorter and faster code for the same numbers.

`prepare` lists the passes before a derivative is taken, `srcad.pipeline` those after it.
"""
